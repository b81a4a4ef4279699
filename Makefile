# Thin calls of packaging/dev.py, which serves systems without make too: `py packaging\dev.py run`.
PYTHON ?= python3
DEV = $(PYTHON) packaging/dev.py

.PHONY: run test setup lint long bench torture soak clean
run test setup lint long bench clean:
	@$(DEV) $@

torture soak:
	@$(DEV) $@ $(if $(N),N=$(N)) $(if $(SEED),SEED=$(SEED))
