// docs/settings.md is written from settings-reference.ts. When that has changed: npm test -- settings-reference -u
import { expect, test } from 'vitest'
import { type SettingRow, settingsReference } from './settings-reference.ts'

const titles = {
  compaction: 'When and how far',
  summary: 'Summaries',
  reductions: 'Clearing without a summary',
  sessionMemory: 'Session memory',
}

function line([path, { type, default: standard, what, environment }]: [string, SettingRow]): string {
  const value =
    typeof standard === 'number'
      ? standard.toLocaleString('en')
      : typeof standard === 'string'
        ? standard
        : JSON.stringify(standard)
  const variables =
    environment === undefined ? '' : ` Environment: ${environment.map((name) => `\`${name}\``).join(', ')}.`
  return `| \`${path}\` | ${type} | ${value} | ${what}${variables} |`
}

test('docs/settings.md lists every setting', async () => {
  const sections = Object.entries(settingsReference).map(([name, rows]) =>
    [
      `## ${titles[name as keyof typeof titles]}`,
      '',
      '| setting | type | default | meaning |',
      '| --- | --- | --- | --- |',
      ...Object.entries(rows as Record<string, SettingRow>).map(line),
    ].join('\n'),
  )
  const head = `# Settings

<!-- Written by engine/src/settings-reference.test.ts from engine/src/settings-reference.ts. -->

\`createEngine({ model, settings: { … } })\`. A dot stands for nesting: \`summary.offlineTokens\` is \`settings: { summary: { offlineTokens } }\`.
Everything is optional. What cannot be read is ignored, and \`session.explain().warnings\` says so. Environment variables come
before settings, except that \`CLAUDE_CONTEXT_COLLAPSE\` counts only where \`collapse\` is not set;
\`createEngine({ environment: {} })\` leaves them out.
`
  await expect(`${[head, ...sections].join('\n\n').replaceAll('\n\n\n', '\n\n')}\n`).toMatchFileSnapshot(
    '../../docs/settings.md',
  )
})
