// Writes the session that the tour shows, cli/assets/tour.jsonl, from the story in scripts/tour. Run it after a change
// of the story; a test says when the two differ.
import { mkdir, writeFile } from 'node:fs/promises'
import { tourSession } from './tour/story.ts'

const folder = new URL('../cli/assets', import.meta.url)
await mkdir(folder, { recursive: true })
await writeFile(new URL('tour.jsonl', folder), tourSession())
