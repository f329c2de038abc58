// Puts the screens of the command line into docs/command-line.md. Run it after a screen has changed; a test says when
// the two differ.
import { writeFileSync } from 'node:fs'
import { documentation, page } from './documentation.ts'

writeFileSync(page, documentation().wanted)
