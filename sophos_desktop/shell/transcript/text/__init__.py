"""Helps for any text that is shown: what may be drawn, where its words are, what two texts have in common."""
