// Commands that change the session: another one, a copy, a new one, another name.
import { dateTime } from '../render/numbers.ts'
import { findSession, listSessions, renameSession } from '../sessions/sessions.ts'
import { clipped, error, type SlashCommand, text } from './command.ts'

export const resume: SlashCommand = {
  name: 'resume',
  arguments: '[ID]',
  help: 'continues another session of this project',
  needsQuiet: true,
  run: async (words, { session, sessions, open }) => {
    if (words === '') {
      const others = listSessions(sessions).filter(({ path }) => path !== session().path)
      if (others.length === 0) return text('There is no other session in this project.')
      const choices = others.map(({ id, title, firstPrompt, changed }) => ({
        label: clipped(title ?? firstPrompt),
        detail: `${dateTime(changed, undefined)} · ${id.slice(0, 8)}`,
        command: `/resume ${id}`,
      }))
      return { type: 'choose', title: 'Continue which session?', choices }
    }
    const found = findSession(sessions, words)
    if (typeof found === 'string') return error(found)
    if (found.path === session().path) return text('You are in this session.')
    await open({ type: 'open', path: found.path })
    return text(`Continued: ${clipped(found.title ?? found.firstPrompt)}`)
  },
}

export const fork: SlashCommand = {
  name: 'fork',
  help: 'continues in a copy of this session; the original stays as it is',
  needsQuiet: true,
  run: async (_, { session, open }) => {
    const { path } = session()
    if (path === undefined) return error('This session is only in memory.')
    await session().stored()
    await open({ type: 'fork', path })
    return text(`You are in a copy now: ${session().id}`)
  },
}

export const rename: SlashCommand = {
  name: 'rename',
  arguments: 'NAME',
  help: 'names this session',
  run: (words, { session, changed }) => {
    const { path } = session()
    if (words === '') return error('Say the name: /rename NAME.')
    if (path === undefined) return error('This session is only in memory.')
    renameSession(path, words)
    changed()
    return text(`This session is called ${clipped(words)} now.`)
  },
}

export const clear: SlashCommand = {
  name: 'clear',
  help: 'starts a new session; /resume brings this one back',
  needsQuiet: true,
  run: async (_, { open }) => {
    await open({ type: 'new', startedBy: 'clear' })
    return text('A new session. /resume brings the last one back.')
  },
}
