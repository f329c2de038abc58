// The made-up summary of a compaction.
import type { Stage } from './stage.ts'
import { title } from './text.ts'

const sections = [
  'What was asked and why',
  'Technical ideas in play',
  'Files and code touched',
  'Errors met and their fixes',
  'Problems solved and open',
  'Everything the human said',
  'Tasks still to do',
  'Work in hand',
  'Next step, if any',
] as const

export function summaryText(stage: Stage): string {
  const { random, pool, project, plan, identity } = stage
  const usual = plan.targetBytes === undefined ? 300 : Math.min(1_100, Math.max(100, Math.floor(plan.largest / 10)))
  const body = (heading: string, index: number) => {
    const text = pool.cut(index === 2 ? 'markdown' : 'prose', Math.round(usual * (0.5 + random.next())))
    const files =
      index === 2
        ? `${project
            .paths(3)
            .map((path) => `- ${path}: ${title(random)}`)
            .join('\n')}\n`
        : ''
    return `${index + 1}. ${heading}:\n${files}${text}`
  }
  const opening = 'This conversation goes on from an earlier one that filled its window. What came before, in short:'
  const closing = `The whole of it can be read at: /home/dev/.claude/projects/${identity.slug}/${identity.sessionId}.jsonl\nGo on from where it stopped, without asking again.`
  return `${opening}\n\nSummary:\n${sections.map(body).join('\n\n')}\n\n${closing}`
}
