// Plan mode: EnterPlanMode turns it on, ExitPlanMode shows the plan to the person and turns it off when they agree.
import { z } from 'zod'
import type { Denial, PermissionMode, Person } from '../app.ts'
import type { Mode } from '../permissions/permissions.ts'
import { type AnyTool, defineTool } from '../tool.ts'
import { failed } from './kit.ts'

export function planTools(person: Person, mode: Mode): readonly AnyTool[] {
  let before: PermissionMode = 'ask'
  const enter = defineTool({
    name: 'EnterPlanMode',
    description: 'Turns plan mode on: you look and plan, and nothing is changed until the user agrees to the plan.',
    input: z.object({}),
    run: () => {
      if (mode.get() === 'plan') return failed('Plan mode is on already.')
      before = mode.get()
      mode.set('plan')
      return 'Plan mode is on. Look at what you need, write the plan, and call ExitPlanMode with it.'
    },
  })
  const exit = defineTool({
    name: 'ExitPlanMode',
    description: 'Shows your plan to the user. If they agree, plan mode ends and you carry the plan out.',
    input: z.object({ plan: z.string().min(1).max(100_000).describe('The whole plan, in Markdown.') }),
    run: async ({ plan }, { signal, toolUseId }) => {
      if (mode.get() !== 'plan')
        return failed('Plan mode is not on: there is nothing to leave. Carry on with the task.')
      const title = 'Leave plan mode and carry out this plan'
      const detail = { type: 'markdown', text: plan } as const
      const agreed = before === 'allow' ? 'allow' : 'ask'
      const request = { toolUseId, tool: 'ExitPlanMode', title, detail, offersEdits: agreed === 'ask' }
      const answer = await person.askPermission(request, signal)
      if (answer.type === 'deny') return failed(rejected(answer))
      // The person may have switched modes while reading.
      if (mode.get() === 'plan') mode.set(answer.type === 'accept-edits' ? 'accept-edits' : agreed)
      before = 'ask'
      return { content: 'The user agrees to the plan. Plan mode is off: carry it out.', details: { plan } }
    },
  })
  return [enter, exit]
}

function rejected({ reason = '', isUnattended = false }: Denial): string {
  if (isUnattended) return 'There was nobody to agree to the plan. Plan mode stays on: give the plan as your answer.'
  const why = reason.trim() === '' ? '' : ` They said: ${reason.trim()}`
  return `The user rejected the plan.${why} Plan mode stays on: change the plan and call ExitPlanMode again, or ask what is missing.`
}
