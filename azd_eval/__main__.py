"""`python -m azd_eval` is `azd-eval`."""

from azd_eval.cli.app import main

if __name__ == "__main__":
    main()
