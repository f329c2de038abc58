import { expect, test } from 'vitest'
import { session, textBlock } from '../../testing/index.ts'
import { createWeigher } from '../mechanisms/measure.ts'
import { viewOf } from '../mechanisms/testing/examples.ts'
import { noTokens } from '../message/usage.ts'
import { answerOf, scripted } from '../session/testing/world.ts'
import { finishedSpans } from './collapse.ts'
import { stageCollapse } from './stage.ts'

test('an answer without text has failed, and what it used is counted', async () => {
  const { records } = session()
    .user('First.')
    .assistant([textBlock('Done.')])
    .user('Second.')
  const [span] = finishedSpans(viewOf(records), createWeigher(), 0)
  if (!span) throw new Error('No span to stage.')
  const usage = { ...noTokens, input: 700, output: 9 }
  const client = scripted(() => answerOf('', { usage }))
  const staging = await stageCollapse({ span, client, model: client.model, countTokens: (text) => text.length })
  expect(staging).toMatchObject({ type: 'failed', usage: { input: 700, output: 9 } })
})
