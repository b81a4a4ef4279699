"""The trace dock: what each run did, step by step, from stored events."""
