"""The report of ``rankwise compare`` as one HTML file.

A run is read (:mod:`.run`), measured (:mod:`.curves`), drawn as SVG
(:mod:`.charts`) and put into :mod:`.sections` of one :mod:`.report`. Scripts only react: without
them the report still shows every number and every curve.
"""
