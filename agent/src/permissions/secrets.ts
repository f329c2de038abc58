// Keeps secrets away from models and logs: commands do not get the keys of model providers, and known secret values are blanked
// out in everything that tools return or store.

import { basename } from 'node:path'

/** Keys that pay for models. No command of the agent needs them. */
const providerKey =
  /^(?:ANTHROPIC|OPENAI|AZURE_OPENAI|GEMINI|GOOGLE|GOOGLE_GENERATIVE_AI|MISTRAL|GROQ|OPENROUTER|DEEPSEEK|XAI|COHERE|TOGETHER|FIREWORKS|CEREBRAS|PERPLEXITY|EVERLONG)_(?:API_KEY|AUTH_TOKEN|ADMIN_KEY)$|^AWS_BEARER_TOKEN_BEDROCK$/
/** Commands may need these (GITHUB_TOKEN), but nobody needs to see them. A path (SSL_KEY=/etc/x.key) is not a secret. */
const secretName = /(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$/i
/** Shorter values occur in ordinary text by chance. */
const minLength = 8

/** Names of files with secrets. Examples of them (`.env.example`) contain none. */
const secretFile =
  /^(?:\.env(?:\.(?!(?:example|sample|template|dist|defaults?|schema)$).+)?|\.netrc|\.pgpass|\.git-credentials|id_(?:rsa|dsa|ecdsa|ed25519))$/i

export function isSecretFile(path: string): boolean {
  return secretFile.test(basename(path))
}

export type Environment = Readonly<Record<string, string | undefined>>

/** Secrets by a name that may be shown. */
export type Secrets = Readonly<Record<string, string>>

export function commandEnvironment(environment: Environment): Record<string, string> {
  const kept = Object.entries(environment).filter(([name, value]) => value !== undefined && !providerKey.test(name))
  return Object.fromEntries(kept) as Record<string, string>
}

/** For commands in the sandbox: without any secret. */
export function sandboxEnvironment(environment: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(environment).filter((entry) => !isSecretVariable(entry)))
}

export function isSecretVariable([name, value = '']: readonly [string, string | undefined]): boolean {
  return providerKey.test(name) || (secretName.test(name) && !/^[~.]?\//.test(value))
}

export type Redactor = {
  readonly text: (text: string) => string
  /** For text in chunks, because the end of one may cut a secret. `end` returns the rest. */
  readonly stream: () => { readonly add: (piece: string) => string; readonly end: () => string }
}

/** The value, also in common encodings: reversed, in hexadecimal, and in Base64 at any offset. */
function formsOf(value: string): readonly string[] {
  const bytes = Buffer.from(value)
  const base64 = [0, 1, 2].map((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64')
    // Only characters that depend on the value alone.
    return encoded.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6))
  })
  return [value, [...value].reverse().join(''), bytes.toString('hex'), ...base64]
}

export function createRedactor(environment: Environment, more: Secrets = {}): Redactor {
  const fromEnvironment = Object.entries(environment).filter(isSecretVariable)
  const values = new Map<string, string>()
  for (const [name, value] of [...Object.entries(more), ...fromEnvironment]) {
    if (value === undefined || value.length < minLength) continue
    for (const form of formsOf(value)) if (!values.has(form)) values.set(form, name)
  }
  // Longest first: a secret may contain another.
  const secrets = [...values.keys()].sort((a, b) => b.length - a.length)
  const longest = secrets[0]?.length ?? 0
  const pattern = new RegExp(secrets.map((each) => each.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|'), 'g')
  const text = (given: string) =>
    longest === 0 ? given : given.replace(pattern, (value) => `[redacted: ${values.get(value)}]`)
  /** Number of characters at the end that may be the start of a secret. */
  const possibleStart = (given: string): number => {
    for (let length = Math.min(longest - 1, given.length); length > 0; length--) {
      const end = given.slice(-length)
      if (secrets.some((secret) => secret.startsWith(end))) return length
    }
    return 0
  }
  const stream = () => {
    let held = ''
    return {
      add: (piece: string) => {
        if (longest === 0) return piece
        held = text(held + piece)
        const ready = held.slice(0, held.length - possibleStart(held))
        held = held.slice(ready.length)
        return ready
      },
      end: () => {
        const rest = held
        held = ''
        return rest
      },
    }
  }
  return { text, stream }
}
