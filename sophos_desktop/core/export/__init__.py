"""Documents made of conversations. One way: nothing reads them back."""
