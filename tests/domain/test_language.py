"""Telling languages apart: the sentences of real briefs and the shortest prompts."""

import pytest

from azd_eval.domain.language import detect_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Customer support agent. Test refund handling and troubleshooting.", "en"),
        ("Where is my order?", "en"),
        ("Agente di assistenza clienti. Verifica i resi e la garanzia.", "it"),
        ("Dov'è il mio ordine? Non è arrivato.", "it"),
        ("Este agente atiende a clientes. Prueba las devoluciones y los envíos.", "es"),
        ("¿Dónde está mi pedido?", "es"),
        ("Kundenservice für Elektronik. Teste Rückgaben und Garantie.", "de"),
        ("Wo ist meine Bestellung?", "de"),
        ("Agent de support client. Teste les remboursements et la livraison.", "fr"),
        ("Où est ma commande ? Je ne la trouve pas.", "fr"),
        ("Agente de suporte ao cliente. Teste as devoluções e os pedidos.", "pt"),
        ("Onde está o meu pedido? Não chegou.", "pt"),
        ("返品と保証をテストしてください。", "ja"),
        ("测试退货和保修。", "zh"),
        ("", "en"),
        ("12345 !!!", "en"),
        ("Gdzie jest moje zamówienie?", "en"),
    ],
)
def test_languages_are_told_apart(text: str, language: str) -> None:
    assert language == detect_language(text)
