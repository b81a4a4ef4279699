"""The conversation that is open: transcript, composer and what stands between them."""
