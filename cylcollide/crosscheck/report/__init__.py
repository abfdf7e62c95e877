"""The report: one page, tables and scripts of a finished run."""
