// Scales the estimate to a model's own tokenizer, before calibration.
import { modelFacts, type TokenizerFamily } from '../../catalog/models.ts'

/** Claude up to 4.6 was measured at 1.25–1.28; the newer one is inferred from "about 30 % more tokens". */
const factors: Readonly<Record<TokenizerFamily, number>> = { claude: 1.25, 'claude-new': 1.6, openai: 1 }

export function familyFactor(model: string | undefined): number {
  const facts = model === undefined ? undefined : modelFacts(model)
  return facts ? factors[facts.tokenizer] : 1
}
