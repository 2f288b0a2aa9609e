"""Reports in the formats of continuous integration: JUnit, SARIF, GitHub's annotations."""
