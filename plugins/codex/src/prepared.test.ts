import { appendFileSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { keepPrepared, preparedFolder, takePrepared } from './prepared.ts'

let folder = ''
let rollout = ''
const source = { words: 'as it was read' } as never
const event = '{"type":"event_msg","payload":{}}\n'
const spoken = '{"type":"response_item","payload":{}}\n'

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everlong-prepared-'))
  rollout = join(folder, 'rollout.jsonl')
  writeFileSync(rollout, spoken)
  keepPrepared({ rollout, bytes: statSync(rollout).size, source }, folder)
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

test.each([
  ['at once', '', 0, source],
  ['after an event', event, 0, source],
  ['after something was said', spoken, 0, undefined],
  ['for a compaction before its end', '', -1, undefined],
])('what was prepared, %s', (_, since, offset, expected) => {
  appendFileSync(rollout, since)
  expect(takePrepared(rollout, statSync(rollout).size + offset, folder)).toEqual(expected)
  expect(existsSync(join(preparedFolder(folder), 'rollout.jsonl.json'))).toBe(false)
})
