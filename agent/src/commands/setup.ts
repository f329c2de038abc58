// Commands about how the agent works: its model and its permissions.
import { knownModels } from 'everlong/internal'
import { modelForms } from '../models/choose.ts'
import { count } from '../render/numbers.ts'
import { sandboxLine } from '../sandbox/modes.ts'
import { permissionModes } from '../settings/schema.ts'
import { error, type SlashCommand, text } from './command.ts'

export const model: SlashCommand = {
  name: 'model',
  arguments: '[MODEL]',
  help: 'shows or changes the model',
  needsQuiet: true,
  run: async (words, { model: current, changeModel }) => {
    if (words === '') {
      const names = knownModels().map(({ id }) => `anthropic:${id}`)
      const { words: given } = current()
      const used = names.find((name) => name === `anthropic:${given}`) ?? given
      const choices = [...new Set([used, ...names, 'demo'])].map((name) => ({
        label: name,
        ...(name === used ? { detail: 'in use' } : {}),
        command: `/model ${name}`,
      }))
      return { type: 'choose', title: `Which model? Others: /model ${modelForms}`, choices }
    }
    const switched = await changeModel(words)
    if (switched.type === 'refused') return error(switched.why)
    if (switched.type === 'none')
      return error(`There is no key for ${words}. Set one in the environment and start again.`)
    const { compaction } = switched
    const fitted =
      compaction?.type === 'compacted'
        ? ` The conversation was compacted to fit: ${count(compaction.after)} tokens.`
        : ''
    return text(`${words} from now on.${fitted}`)
  },
}

const meanings: Readonly<Record<(typeof permissionModes)[number], string>> = {
  ask: 'edits ask, and commands unless they run in the sandbox or only look',
  'accept-edits': 'edits in the workspace do not ask',
  plan: 'nothing is changed',
  allow: 'nothing asks',
}

export const permissions: SlashCommand = {
  name: 'permissions',
  arguments: '[MODE]',
  help: 'shows the sandbox and the rules, or changes the mode: ask, accept-edits, plan, allow',
  run: (words, { mode, setMode, settings, sandbox, rules: rulesNow }) => {
    const wanted = permissionModes.find((name) => name === words)
    if (words !== '' && wanted === undefined) return error(`${words} is no mode. Modes: ${permissionModes.join(', ')}.`)
    if (wanted !== undefined) {
      setMode(wanted)
      return text(`Mode ${wanted}: ${meanings[wanted]}.`)
    }
    const { allow, deny } = rulesNow()
    const atStart = new Set(settings.permissions.allow)
    const rules = [
      ...allow.map((rule) => `  allow ${rule}${atStart.has(rule) ? '' : ' (added in this session)'}`),
      ...deny.map((rule) => `  deny ${rule}`),
    ]
    return text(
      `Mode ${mode()}: ${meanings[mode()]}.`,
      sandboxLine(sandbox()),
      ...(rules.length === 0 ? ['No rules.'] : ['Rules, of the settings unless marked:', ...rules]),
    )
  },
}
