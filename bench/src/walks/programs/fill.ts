// A conversation in which the agent reads a file per turn.
import type { Session } from 'everlong'

type Reading = {
  readonly turns: number
  /** Returns the path of the file with this content. */
  readonly fileAt: (turn: number, content: string) => string
}

export function fill(session: Pick<Session, 'add' | 'record'>, { turns, fileAt }: Reading): void {
  session.add({ role: 'user', content: 'Fix the report. Never touch schema.sql.' })
  for (let turn = 0; turn < turns; turn++) {
    const lines = Array.from({ length: 120 }, (_, at) => `export const value${turn}x${at} = callTheHelper(${at})`)
    const content = lines.join('\n')
    const id = `toolu_${turn}`
    const call = { type: 'tool_use', id, name: 'Read', input: { file_path: fileAt(turn, content) } }
    session.record({ content: [call] })
    session.add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content }] })
  }
}
