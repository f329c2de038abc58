// AskUserQuestion: asks the person to choose or to type an answer.
import { z } from 'zod'
import type { Person } from '../app.ts'
import { type AnyTool, defineTool } from '../tool.ts'

const input = z.object({
  questions: z
    .array(
      z.object({
        question: z.string().min(1).max(1_000),
        header: z.string().max(50).optional().describe('One or two words for it.'),
        options: z
          .array(z.object({ label: z.string().min(1).max(100), description: z.string().max(500).optional() }))
          .min(2)
          .max(6)
          .describe('The user may also type an answer of their own.'),
        multiSelect: z.boolean().optional().describe('Several options may be chosen.'),
      }),
    )
    .min(1)
    .max(4),
})

export function askUserTool(person: Person): AnyTool {
  return defineTool({
    name: 'AskUserQuestion',
    description:
      'Asks the user, when the task leaves something open that you cannot find out and that matters. Do not ask for permission: tools do that.',
    input,
    run: async ({ questions }, { signal }) => {
      const asked = questions.map(({ question, options, multiSelect = false }) => ({
        question,
        options: options.map(({ label, description }) => ({
          label,
          ...(description === undefined ? {} : { description }),
        })),
        isMultiple: multiSelect,
      }))
      const answers = await person.askQuestions(asked, signal)
      if (!answers) return 'The user did not answer. Go on with the most sensible choice and say which one you made.'
      const lines = questions.map(({ question }, at) => `${question}\n→ ${answers[at]?.join(', ') || '(no answer)'}`)
      return `The user answered:\n${lines.join('\n')}`
    },
  })
}
