// Compaction blocks in a request: the beta they need, and, for signed ones, their place and their signature.
import { invalid, type Problem } from '../http/problem.ts'
import { digestOf } from '../prompt/digest.ts'
import { beta } from '../request/fields.ts'
import { isCompaction, type MessagesRequest, type PlacedBlock, placedIn } from '../request/request.ts'
import { extraInput } from '../request/wording.ts'
import type { Signer } from '../thinking/signature.ts'
import { editsOf, hasRemainingBudget } from './context-management.ts'

export function checkCompactionBlocks(request: MessagesRequest, signer: Signer): Problem | undefined {
  const blocks = placedIn(request.messages).filter(({ block }) => block.type === 'compaction')
  const first = blocks[0]
  if (first === undefined) return undefined
  const onDemand = request.betas.has(beta.compactOnDemand)
  if (!onDemand && !request.betas.has(beta.compactEdit)) {
    return invalid(`${first.path}: Input tag 'compaction' found using 'type' does not match any of the expected tags`)
  }
  const signed = blocks.filter(({ block }) => isCompaction(block) && typeof block.signature === 'string')
  const found = signed[0]
  if (found === undefined) return undefined
  if (!onDemand) return invalid(`${found.path}.compaction.signature: ${extraInput}`)
  if (blocks.filter(({ block }) => isCompaction(block)).length > 1) {
    const rule = '`messages` holds more than one `compaction` block; send only the one that was returned last'
    return invalid(`${blocks[1]?.path}: ${rule}`, 'compaction_block_ambiguous')
  }
  return checkCompanions(found, request) ?? checkSigned(found, request, signer)
}

/** What a request that carries a signed block cannot carry too. */
function checkCompanions(found: PlacedBlock, request: MessagesRequest): Problem | undefined {
  if (editsOf(request).some((edit) => edit.type === 'compact_20260112')) {
    return invalid(`${found.path}: a signed \`compaction\` block cannot be combined with \`compact_20260112\``)
  }
  return hasRemainingBudget(request)
    ? invalid(`${found.path}: a signed \`compaction\` block cannot be combined with \`task_budget.remaining\``)
    : undefined
}

function checkSigned(found: PlacedBlock, request: MessagesRequest, signer: Signer): Problem | undefined {
  const opening = request.messages[0]
  if (found.message.role === 'system' || opening?.content[0] !== found.block) {
    const rule = '`compaction` block must be sent first, in place of the messages it summarizes; remove those messages'
    return invalid(`${found.path}: ${rule}`, 'compaction_block_misplaced')
  }
  const claim = signer.read(String(found.block.signature), '')
  if (claim?.kind !== 'compaction') {
    return invalid(`${found.path}: Invalid \`signature\` in \`compaction\` block`, 'compaction_signature_invalid')
  }
  if (claim.text !== digestOf(String(found.block.content))) {
    const rule = 'the `content` of the `compaction` block differs from what was signed'
    return invalid(`${found.path}: ${rule}`, 'compaction_content_mismatch')
  }
  return undefined
}
