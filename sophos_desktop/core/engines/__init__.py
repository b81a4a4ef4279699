"""What serves models: the Ollama API and the starter process."""
