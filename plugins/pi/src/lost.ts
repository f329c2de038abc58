// Facts that the compactions of a branch lost, whoever wrote their summaries.

import { renderSession } from '@everlong/cli/lost'
import { lostInTranscript, transcriptOfRecords } from 'everlong/internal/node'
import { plainScreen } from '../../shared/screen.ts'
import type { Context } from './pi-api.ts'
import { recordsOf } from './session.ts'

export function lostText({ sessionManager }: Pick<Context, 'sessionManager'>): string {
  const lost = lostInTranscript(
    transcriptOfRecords(recordsOf({ sessionManager }), sessionManager.getSessionFile() ?? ''),
  )
  return renderSession(lost, plainScreen).join('\n')
}
