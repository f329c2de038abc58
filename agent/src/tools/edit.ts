// Edit: replaces an exact text in a file that was read and has not changed since.
import { z } from 'zod'
import type { AnyTool } from '../tool.ts'
import { changeText } from './change-text.ts'
import { diffOf } from './diff.ts'
import { failed, guardedTool, type Kit } from './kit.ts'
import { similarNames } from './similar-names.ts'
import { textBefore, write } from './write.ts'

const input = z.object({
  file_path: z.string().min(1).describe('The file: absolute, or relative to the workspace.'),
  old_string: z.string().describe('The exact text to replace, without line numbers. It must occur once.'),
  new_string: z.string().max(10_000_000).describe('The text to put in its place.'),
  replace_all: z.boolean().optional().describe('Replace every occurrence.'),
})

export function editTool(kit: Kit): AnyTool {
  return guardedTool<z.infer<typeof input>>(kit, {
    name: 'Edit',
    description:
      'Replaces an exact text in a file. The file must have been read. old_string must be unique, unless replace_all is set.',
    input,
    plan: async ({ file_path, old_string, new_string, replace_all = false }, context) => {
      const place = await kit.workspace.place(file_path)
      const before = await textBefore(kit, place, context)
      if (before.type === 'refused') return failed(before.why)
      if (before.text === undefined) {
        return failed(`${place.shown}: there is no such file.${await similarNames(place)} Use Write to create a file.`)
      }
      const changed = changeText(before.text, { before: old_string, after: new_string, isAll: replace_all })
      if (changed.type === 'refused') return failed(`${place.shown}: ${changed.why}`)
      const diff = diffOf(place.shown, before.text, changed.text)
      return {
        access: { type: 'write', tool: 'Edit', place },
        title: `Edit ${place.shown}`,
        detail: { type: 'diff', text: diff.text },
        run: () => write(kit, { place, content: changed.text, context, isNew: false, diff }),
      }
    },
  })
}
