// The screens of `everlong init`: the plan before the question, and the result.
import { counted, visible } from '@everlong/agent/render'
import { fileLines } from '../../render/file-change.ts'
import { heading, paragraph, type Screen } from '../../render/screen.ts'
import type { ByHand, InitPlan, InitReport } from './plan.ts'
import { sdks } from './sdks.ts'
import type { Trial } from './trial.ts'

export function planLines(plan: InitPlan, screen: Screen): readonly string[] {
  return [
    heading(`Add Everlong to ${plan.sdks.map(titleOf).join(', ')}`, screen),
    ...(plan.install === undefined ? [] : [`  run      ${plan.install}`]),
    ...plan.files.flatMap((file) => fileLines(file, screen)),
    ...plan.byHand.flatMap((each) => byHandLines(each, screen)),
  ]
}

export function render(report: InitReport, screen: Screen): readonly string[] {
  switch (report.state) {
    case 'nothing-to-do':
      return nothingToDo(report, screen)
    case 'refused':
      return ['Nothing was changed.']
    case 'not-asked':
      return ['Nothing was changed. To apply it, add --yes.']
    case 'applied':
      return [
        appliedLine(report),
        ...(report.trial ? ['', ...paragraph(trialText(report.trial), screen)] : []),
        '',
        'Next:',
        ...paragraph(
          "A server keeps its sessions in a store and names the conversation in each call: everlong({ store: jsonlSessions({ folder: 'sessions' }) }) with jsonlSessions of everlong/node.",
          screen,
        ),
        ...paragraph('Try your own program without a key: npx @everlong/cli simulate --window 16000', screen),
      ]
  }
}

function appliedLine({ files, install }: InitPlan): string {
  const installed = install === undefined ? '' : 'installed the library'
  const changed = files.length === 0 ? '' : `changed ${counted(files.length, 'file')}`
  const done = [installed, changed].filter(Boolean).join(' and ')
  return `${done[0]?.toUpperCase()}${done.slice(1)}.`
}

function nothingToDo({ already, byHand }: InitPlan, screen: Screen): readonly string[] {
  if (byHand.length > 0)
    return [heading('To change by hand', screen), ...byHand.flatMap((each) => byHandLines(each, screen))]
  return [`Everlong is there already: ${already.map(visible).join(', ')}. Nothing was changed.`]
}

function byHandLines({ sdk, place, why, lines }: ByHand, screen: Screen): readonly string[] {
  return [
    `  by hand  ${place === undefined ? titleOf(sdk) : visible(place)}`,
    ...paragraph(`${titleOf(sdk)}: ${why}. Write:`, screen, 'yellow').map((line) => `      ${line}`),
    ...lines.map((line) => `      ${line}`),
  ]
}

function trialText(trial: Trial): string {
  if (trial.type === 'failed') return `The simulated conversation failed: ${visible(trial.why)}`
  const through =
    trial.sdk === undefined ? 'with the library alone' : `through ${titleOf(trial.sdk).replace(/^.*SDK$/, 'the $&')}`
  const rule = trial.keptRule
    ? 'The rule of the first turn was in the last request, word for word.'
    : 'The rule of the first turn was missing from the last request.'
  return `A simulated conversation of ${trial.turns} turns ${through}, in a window of 16,000 tokens: ${counted(trial.compactions, 'compaction')}, ${counted(trial.refused, 'request')} refused. ${rule}`
}

function titleOf(name: string): string {
  return sdks.find((sdk) => sdk.name === name)?.title ?? name
}
