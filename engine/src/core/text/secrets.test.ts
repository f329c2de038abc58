import { describe, expect, test } from 'vitest'
import { cpuTime } from '../../node/testing/cpu-time.ts'
import { withoutSecrets } from './secrets.ts'

// Assembled from parts, so that no scanner takes them for real ones.
const letters = 'AbCdEfGhIjKlMnOpQrStUvWxYz0123456789'
const hex = '0123456789abcdef'
const password = ['S3cret', 'Passw0rd'].join('')

describe('secrets', () => {
  test.each<[string, string, string]>([
    ['Anthropic', ['sk', 'ant', 'api03', letters].join('-'), '[redacted]'],
    ['OpenAI', ['sk', 'proj', letters].join('-'), '[redacted]'],
    ['Stripe', ['sk', 'live', letters].join('_'), '[redacted]'],
    ['GitHub', `ghp_${letters}`, '[redacted]'],
    ['GitHub, fine-grained', `github_pat_11ABCDEFG0_${letters}`, '[redacted]'],
    ['GitLab', `glpat-${letters.slice(0, 20)}`, '[redacted]'],
    ['Slack', `xoxb-${'123456789012-'.repeat(2)}${letters}`, '[redacted]'],
    ['Google', `AIza${letters}`, '[redacted]'],
    ['npm', `npm_${letters}`, '[redacted]'],
    ['Hugging Face', `hf_${letters}`, '[redacted]'],
    ['Groq', `gsk_${letters}`, '[redacted]'],
    ['DigitalOcean', `dop_v1_${hex.repeat(4)}`, '[redacted]'],
    ['SendGrid', ['SG', letters.slice(0, 22), letters].join('.'), '[redacted]'],
    ['Twilio', `SK${hex.repeat(2)}`, '[redacted]'],
    ['Telegram', `bot 123456789:AA${letters.slice(0, 33)}`, 'bot [redacted]'],
    ['Discord', [`M${letters.slice(0, 23)}`, 'GabcdE', letters].join('.'), '[redacted]'],
    ['an AWS key', `AKIA${'Q2'.repeat(8)}`, '[redacted]'],
    ['an AWS secret behind its key', `AKIA${'Q2'.repeat(8)} ${letters}/+ab`, '[redacted] [redacted]'],
    ['a bare AWS secret', 'it is wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY.', 'it is [redacted].'],
    ['an AWS secret on the line below', `aws:\n  ${letters}/+ab`, 'aws:\n  [redacted]'],
    ['a JSON web token', ['eyJhbGciOiJI', 'eyJzdWIiOiIx', 'c2lnbmF0dXJl'].join('.'), '[redacted]'],
    ['Azure', `AccountName=x;AccountKey=${letters}==;`, 'AccountName=x;AccountKey=[redacted];'],
    ['an address', `postgres://me:${password}@db/x`, 'postgres://me:[redacted]@db/x'],
    ['basic authorization', 'Authorization: Basic QWxhZGRpbjpvcGVu', 'Authorization: Basic [redacted]'],
    ['bearer in small letters', 'authorization: bearer abcdefghijklmnop', 'authorization: bearer [redacted]'],
    ['bearer without its header', `use Bearer ${letters}`, 'use Bearer [redacted]'],
    ['cookies', `-H "Cookie: session=${letters}; a=${hex}" x`, '-H "Cookie: session=[redacted]; a=[redacted]" x'],
    ['a cookie that is set', `set-cookie: sid=${letters}; HttpOnly`, 'set-cookie: sid=[redacted]; HttpOnly'],
    ['a header', `x-api-key: ${letters}`, 'x-api-key: [redacted]'],
    ['a parameter', `https://x.com/?access_token=${letters}&b=1`, 'https://x.com/?access_token=[redacted]&b=1'],
    ['a variable', `export DEPLOY_TOKEN=${letters} run`, 'export DEPLOY_TOKEN=[redacted] run'],
    ['a variable in one word', `PGPASSWORD=${password} psql`, 'PGPASSWORD=[redacted] psql'],
    ['a variable of letters alone', 'DB_PASSWORD=letmein ./run', 'DB_PASSWORD=[redacted] ./run'],
    ['a name in camel case', `dbPassword: "${password}"`, 'dbPassword: "[redacted]"'],
    ['JSON', `{"client_secret":"${letters}"}`, '{"client_secret":"[redacted]"}'],
    ['prose', `password: ${password}!`, 'password: [redacted]'],
    ['YAML', 'password: letmein', 'password: [redacted]'],
    ['a setting of npm', `//r.example/:_authToken=${letters}`, '//r.example/:_authToken=[redacted]'],
    ['a flag', `docker login --password ${password} x`, 'docker login --password [redacted] x'],
    ['curl', `curl -u admin:${password} https://x`, 'curl -u admin:[redacted] https://x'],
    [
      'curl, behind an address',
      `curl "https://x?a=1&b=2" -u a:${password}`,
      'curl "https://x?a=1&b=2" -u a:[redacted]',
    ],
    ['curl, in quotes', `curl https://x --user 'me:${password}'`, "curl https://x --user 'me:[redacted]'"],
    ['mysql', `mysql -u root -p${password} db`, 'mysql -u root -p[redacted] db'],
    ['mysqldump', `mysqldump -p'${password}' db`, "mysqldump -p'[redacted]' db"],
    ['sshpass', `sshpass -p ${password} ssh a@b`, 'sshpass -p [redacted] ssh a@b'],
    ['redis', `redis-cli -h h -a ${password} ping`, 'redis-cli -h h -a [redacted] ping'],
    ['a private key', `-----BEGIN RSA PRIVATE KEY-----\n${letters}\n-----END RSA PRIVATE KEY-----.`, '[redacted].'],
    ['a private key that was cut off', `-----BEGIN PRIVATE KEY-----\n${letters}`, '[redacted]'],
  ])('%s', (_, text, clean) => {
    expect(withoutSecrets(text)).toBe(clean)
    // A second run changes nothing, and text around it changes nothing either.
    expect(withoutSecrets(clean)).toBe(clean)
    expect(withoutSecrets(`Next I ran this:\n${text}\nand it worked.`)).not.toContain(letters)
    expect(withoutSecrets(`Next I ran this:\n${text}\nand it worked.`)).not.toContain(password)
  })

  test.each([
    'The session 3f2504e0-4f89-11d3-9a0c-0305e82c3301 was resumed.',
    'commit da39a3ee5e6b4b0d3255bfef95601890afd80709, was e3b0c442',
    'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    '"integrity": "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=="',
    '"js-tiktoken": "^1.0.20", "js-tokens": "^4.0.0", "credential-store": "^1.2.3"',
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'function e(t){return t.token=n.accessToken,t.password=e.password,{secret:r,apiKey:o.apiKey}}',
    'const token = await getToken(), key = z.string(); if (token === undefined) return',
    'type Login = { password: string; token?: Token<User>; apiKey: Secret | undefined; pwd: unknown }',
    'max_tokens=200000, max_tokens: 128000, tokenCount=1234567, next token: 151643',
    'token: $TOKEN, password: {{db_password}}, secret: <your-secret>, apiKey: process.env.API_KEY, --token "$T"',
    'PWD=/home/me/project private_key: ./keys/server.pem credentials: ~/.aws/credentials',
    'CONSTRAINT pk_order_lines_by_customer PRIMARY KEY; class="sk-loading-indicator-wrapper"',
    'npm_config_prefer_offline_installation and hf_hub_download_with_progress_bar',
    'Basic authentication and Bearer authentication are both supported; Basic understanding.',
    'docker run -u 1000:1000 -p 8080:80 image; git push -u origin main:main; cp -p a b; ssh -p 2222 host',
    'curl -u a:$PW "https://x?a=1&b=2"; curl -u "$USER:$PASSWORD" https://x; mysql -p db; mysql -p$PW db; sshpass -p "$PW" ssh a',
    'Cookie: the header that a browser sends. The token: expired. The --password option was added.',
    'https://host:8080/a@b, mailto:me@example.com, ssh://git@host:22/x',
    'src/ReactHost/UiManager2/ViewConfigs/Abc import src/ReactDomHost/HostConfigX1/UiManagerAbc.ts sidebarNavigationItemsOfTheSecondLevel42',
    'aws s3 ls; da39a3ee5e6b4b0d3255bfef95601890afd80709; src/components/navigation/sidebar/items/x.ts',
    'const wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEYa = 1',
    'password must be at least 8 characters; the secret is in 1Password',
  ])('%s stays', (text) => {
    expect(withoutSecrets(text)).toBe(text)
  })

  test('it takes linear time, also on text that almost matches', () => {
    const pieces = [
      'sk-',
      'a',
      'eyJ',
      '--',
      'password',
      'curl ',
      'Cookie: a=',
      '://',
      'SG.',
      'M'.repeat(24),
      ':',
      ' -u a',
      '=',
    ]
    const texts = [...pieces, ...pieces.map((piece) => `${piece} `), pieces.join(''), 'AKIA ', '-----BEGIN A']
    for (const piece of texts) {
      const small = piece.repeat(Math.ceil(20_000 / piece.length))
      const large = piece.repeat(Math.ceil(200_000 / piece.length))
      const ratio = () =>
        cpuTime(() => withoutSecrets(large)) /
        Math.max(
          4,
          cpuTime(() => withoutSecrets(small)),
        )
      expect([piece, [1, 2, 3].some(() => ratio() < 40)]).toEqual([piece, true])
    }
  })
})
