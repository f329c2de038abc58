import fc from 'fast-check'
import { expect, test } from 'vitest'
import { commandEnvironment, createRedactor, sandboxEnvironment } from './secrets.ts'

test('commands keep their environment, but not the keys of model providers', () => {
  const keys = { ANTHROPIC_API_KEY: 'a', ANTHROPIC_AUTH_TOKEN: 'b', OPENAI_API_KEY: 'c', AWS_BEARER_TOKEN_BEDROCK: 'd' }
  const kept = { PATH: '/bin', HOME: '/home/x', GITHUB_TOKEN: 'e', DATABASE_URL: 'f', MY_API_KEY: 'g' }
  expect(commandEnvironment({ ...keys, ...kept, GONE: undefined })).toEqual(kept)
})

test('a secret is named, a path or a short value is left alone, and the longest of two counts', () => {
  const environment = { A_TOKEN: 'abcdefgh', SSL_KEY: '/etc/ssl/server.key', X_KEY: 'short', HOME: '/home/somebody' }
  const { text } = createRedactor(environment, { long: 'abcdefgh-ijkl' })
  expect(text('abcdefgh-ijkl abcdefgh /etc/ssl/server.key short /home/somebody')).toBe(
    '[redacted: long] [redacted: A_TOKEN] /etc/ssl/server.key short /home/somebody',
  )
  expect(createRedactor({}).text('a.*b')).toBe('a.*b')
})

test('a secret is also found reversed, in hexadecimal and in Base64, wherever it starts', () => {
  const secret = 'sk-ant-0123456789-äö'
  const { text } = createRedactor({}, { key: secret })
  const forms = ['', 'K', 'KE', 'KEY='].map((start) => Buffer.from(`${start}${secret}\n`).toString('base64'))
  for (const form of [[...secret].reverse().join(''), Buffer.from(secret).toString('hex'), ...forms]) {
    expect(text(`before ${form} after`)).toMatch(/^before \S{0,6}\[redacted: key\]\S{0,4} after$/)
  }
})

test('wherever the longest form of a secret is cut, nothing of it gets through', () => {
  const secret = 'p@ss+word(1)'
  const hex = Buffer.from(secret).toString('hex')
  for (let cut = 1; cut < hex.length; cut++) {
    const { add, end } = createRedactor({}, { one: secret }).stream()
    expect(add(hex.slice(0, cut)) + add(hex.slice(cut)) + end()).toBe('[redacted: one]')
  }
})

test('however a text is cut into pieces, no secret gets through', () => {
  const part = fc.oneof(
    fc.constantFrom('p@ss+word(1)', 'p@ss', 'word(1)', '0123456789abcdef'),
    fc.string({ maxLength: 6 }),
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), fc.array(fc.nat({ max: 9 }), { maxLength: 40 }), (parts, cuts) => {
      const { text, stream } = createRedactor({}, { one: 'p@ss+word(1)', two: '0123456789abcdef' })
      const whole = parts.join('')
      const { add, end } = stream()
      let out = ''
      let at = 0
      for (const size of [...cuts, whole.length]) {
        out += add(whole.slice(at, at + size))
        at += size
      }
      expect(out + end()).toBe(text(whole))
    }),
  )
})

test('the sandbox gets no variable with a secret, and a path to one is none', () => {
  const kept = { PATH: '/bin', SSL_KEY: '/etc/x.key', DEPLOY_KEY: './key', TOKENIZER: 'x', MONKEY_BUSINESS: 'x' }
  const secrets = {
    ...{ GITHUB_TOKEN: 'x', npm_config_password: 'x', aws_credentials: 'x', API_SECRET: '' },
    // Keys of model providers, whatever they look like.
    ...{ ANTHROPIC_API_KEY: '/not/a/path', AWS_BEARER_TOKEN_BEDROCK: 'x' },
  }
  expect(sandboxEnvironment({ ...kept, ...secrets })).toEqual(kept)
})
