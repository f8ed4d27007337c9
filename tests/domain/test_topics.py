"""Reading generation instructions: topics, kinds and role, in the languages that people use."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.domain.topics import merge_topics, read_scope, topic_words


@pytest.mark.parametrize(
    ("sentence", "role", "topics", "kinds"),
    [
        (
            "Customer support. Test refund handling, troubleshooting, and out-of-scope deflection.",
            "Customer support.",
            ("refund handling", "troubleshooting"),
            ("out_of_scope",),
        ),
        (
            "This agent handles customer support. Test returns, troubleshooting, and out-of-scope.",
            "This agent handles customer support.",
            ("returns", "troubleshooting"),
            ("out_of_scope",),
        ),
        (
            "A travel agent that books flights, hotels and car rentals.",
            "A travel agent that books flights, hotels and car rentals.",
            ("books flights", "hotels", "car rentals"),
            (),
        ),
        (
            "IT helpdesk. Please test password resets and VPN access, including multi-step ones.",
            "IT helpdesk.",
            ("password resets", "VPN access"),
            ("multi_step",),
        ),
        (
            "Support bot of a bank, test card blocking and lost PIN",
            "Support bot of a bank",
            ("card blocking", "lost PIN"),
            (),
        ),
        (
            "Shop bot. Test terms and conditions, research and development, and refunds",
            "Shop bot.",
            ("terms and conditions", "research and development", "refunds"),
            (),
        ),
        (
            "Test how the agent handles refund requests.",
            "",
            ("refund requests",),
            (),
        ),
        (
            "Test scenarios: refunds with adversarial users, prompt injection; edge cases.",
            "",
            ("refunds",),
            ("adversarial",),
        ),
        (
            "Scenarios to test:\n- refunds after 30 days\n- lost parcels\n2. ambiguous questions\n",
            "",
            ("refunds after 30 days", "lost parcels"),
            ("ambiguous",),
        ),
        (
            "Agente di assistenza. Verifica i resi, la garanzia e le richieste fuori ambito.",
            "Agente di assistenza.",
            ("resi", "garanzia"),
            ("out_of_scope",),
        ),
        (
            "Agente de una tienda. Prueba las devoluciones, los envíos y las consultas ambiguas.",
            "Agente de una tienda.",
            ("devoluciones", "envíos"),
            ("ambiguous",),
        ),
        (
            "Kundenservice. Teste Rückgaben, Garantie und Anfragen außerhalb des Themas.",
            "Kundenservice.",
            ("Rückgaben", "Garantie"),
            ("out_of_scope",),
        ),
        (
            "Agent de support. Teste les remboursements, la livraison et les demandes hors sujet.",
            "Agent de support.",
            ("remboursements", "livraison"),
            ("out_of_scope",),
        ),
        (
            "Agente de suporte ao cliente. Teste devoluções, entregas e pedidos fora do escopo.",
            "Agente de suporte ao cliente.",
            ("devoluções", "entregas"),
            ("out_of_scope",),
        ),
        (
            "家電のカスタマーサポート。返品、修理および範囲外の依頼をテストしてください。",
            "家電のカスタマーサポート",
            ("返品", "修理"),
            ("out_of_scope",),
        ),
        (
            "这是一个客服助手。测试退货、故障排除和范围外的请求。",
            "这是一个客服助手",
            ("退货", "故障排除"),
            ("out_of_scope",),
        ),
        ("Bot. Test OS updates and Las Vegas trips", "Bot.", ("OS updates", "Las Vegas trips"), ()),
        ("Coding assistant", "Coding assistant", (), ()),
        ("", "", (), ()),
    ],
)
def test_a_sentence_is_split(
    sentence: str, role: str, topics: tuple[str, ...], kinds: tuple[str, ...]
) -> None:
    scope = read_scope(sentence)

    assert (role, topics, kinds) == (scope.role, scope.topics, scope.kinds)


@given(st.text(max_size=200))
def test_any_sentence_is_read(sentence: str) -> None:
    topics = read_scope(sentence).topics

    assert all(topic.strip() for topic in topics)
    assert len({topic.casefold() for topic in topics}) == len(topics)


@pytest.mark.parametrize(
    ("named", "drafted", "merged"),
    [
        (("refund handling",), ["Refunds", "shipping", "billing"], ("refund handling", "shipping")),
        (("returns", "repairs"), ["refunds", "invoices", "coupons"], 4),
        (("returns",), ["out-of-scope requests", "ambiguous questions"], ("returns",)),
        (("returns",), [], ("returns",)),
        ((), ["the returns", "Returns", "repairs"], ("returns", "repairs")),
        ((), ["", "  "], ()),
    ],
)
def test_drafted_topics_never_displace_named_ones(
    named: tuple[str, ...], drafted: list[str], merged: tuple[str, ...] | int
) -> None:
    topics = merge_topics(named, drafted)

    assert named == topics[: len(named)]
    assert merged in (topics, len(topics))


@pytest.mark.parametrize(
    ("topic", "words"),
    [
        ("refund handling", ("refund",)),
        ("returns", ("return",)),
        ("questions about lost parcels", ("lost", "parcel")),
        ("support", ("support",)),
        ("返品", ("返品",)),
        ("42", ("42",)),
    ],
)
def test_the_telling_words_of_a_topic(topic: str, words: tuple[str, ...]) -> None:
    assert words == topic_words(topic)
