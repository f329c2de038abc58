@node "%~dp0scripts\launch.mjs" cli %*
