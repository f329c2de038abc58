// Skill: loads the text of a skill into the conversation. The tool's description lists the skills.
import { z } from 'zod'
import type { AnyTool } from '../tool.ts'
import { failed, guardedTool, type Kit } from '../tools/kit.ts'
import { type Skill, skillText } from './skills.ts'

/** Descriptions cost tokens in every request. */
const maxListed = 8_000

const input = z.strictObject({
  skill: z.string().min(1).describe('The name of a skill in the list.'),
  args: z.string().max(10_000).optional().describe('What to do with it, as the user said.'),
})

/** Undefined if there are no skills. */
export function skillTool(kit: Kit, skills: readonly Skill[]): AnyTool | undefined {
  if (skills.length === 0) return undefined
  return guardedTool<z.infer<typeof input>>(kit, {
    name: 'Skill',
    description: `Loads instructions for a special task. Use a skill when the task fits its description.\n${listOf(skills)}`,
    input,
    plan: ({ skill: name, args }) => {
      const skill = skills.find((each) => each.name === name.replace(/^\//, ''))
      if (!skill) return failed(`There is no skill ${name}. Known: ${skills.map((each) => each.name).join(', ')}.`)
      return {
        access: { type: 'call', tool: 'Skill', argument: skill.name, isSafe: true },
        title: `Use the skill ${skill.name}`,
        run: () => {
          const task = args === undefined ? '' : `\n\nWith: ${args}`
          const details = { skill: skill.name, path: skill.folder }
          const read = skillText(skill)
          if (read.type === 'unreadable') return failed(read.why)
          return { content: `Skill ${skill.name}. Its files are in ${skill.folder}\n\n${read.text}${task}`, details }
        },
      }
    },
  })
}

function listOf(skills: readonly Skill[]): string {
  const full = skills.map(({ name, description }) => `- ${name}: ${description.replace(/\s+/g, ' ')}`).join('\n')
  return full.length <= maxListed ? full : skills.map(({ name }) => `- ${name}`).join('\n')
}
