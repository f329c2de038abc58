// Replaces secrets in text that passes from one context to the next: text that code quotes and text that a model writes. Linear
// in the length of the text. A match is replaced and never stops anything, so a false alarm costs one word.

const mark = '[redacted]'

export function withoutSecrets(text: string): string {
  const small = text.toLowerCase()
  const isPossible = ({ words }: Rule) => words === undefined || words.some((word) => small.includes(word))
  return rules.reduce((clean, rule) => (isPossible(rule) ? rule.replace(clean) : clean), text)
}

type Rule = {
  /** Every text with such a secret contains one of these words in lower case. Looking for them first is much cheaper. */
  readonly words?: readonly string[]
  readonly replace: (text: string) => string
}

/** A private key in PEM form, even if it is cut off. */
const pem = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g

/** Keys of well-known services by their prefix. Names such as `pk_order_lines` have neither digits nor capitals. */
const prefixed =
  /\b(?:sk|pk|rk)[-_](?:ant|proj|live|test|or)?[-_]?[\w-]{16,}|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bxox[abeprs]-[\w-]{10,}|\bAIza[\w-]{30,}|\b(?:npm|hf|gsk|dop_v1|shpat)_\w{24,}|\bSG\.[\w-]{16,}\.[\w-]{16,}/g

/** AWS, JSON web tokens, Twilio, Telegram, Discord: recognized by their format. */
const formed =
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?|\bSK[0-9a-f]{32}\b|\b\d{8,10}:AA[\w-]{30,40}(?![\w-])|\b[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])/g

/** `Authorization: Basic dXNlcjpwYXNz`, `Bearer abc123…`; not "Basic authentication". */
const bearer = /(authorization["']?:\s{0,3}["']?)?\b((?:Bearer|Basic) )([\w.~+/=-]{12,})/gi

/** The password in an address: `https://user:password@host`. */
const inUrl = /(:\/\/[^\s:@/]{0,64}:)[^\s@/]{1,128}(?=@)/g

/** `Cookie: session=abc; theme=dark` */
const cookie = /\bCookie:\s{0,3}(?:[\w.-]+=[^\s;,"']+;? ?)+/gi

/** `DB_PASSWORD=hunter2`, `"client_secret": "abc"`, `AccountKey=abc==`, `password: hunter2`. */
const named =
  /((?:password|passwd|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|account[_-]?key|private[_-]?key|secret[_-]?key|secret[_-]?key[_-]?base|credentials?)["']?\s{0,3}[:=]\s{0,3}["']?)([^\s"'&;,)]{6,})/gi

/** `--password hunter2` */
const flagged = /(--[a-z-]{0,30}?(?:password|passwd|token|secret|api-?key)\s{1,3}["']?)([^\s"'-][^\s"']{5,})/g

/** Commands that take a password without naming it, each up to its end. */
const commands: readonly { readonly words: readonly string[]; readonly command: RegExp; readonly value: RegExp }[] = [
  // curl -u user:password
  {
    words: ['curl'],
    command: /\bcurl\b(?:[^\n;|&]|&(?!&))*/g,
    value: /(\s(?:-u|-U|--user|--proxy-user)(?:\s+|=)?["']?[^\s:"'$]{1,64}:)([^\s"'$][^\s"']*)/g,
  },
  // mysql -ppassword
  {
    words: ['mysql', 'mariadb'],
    command: /\b(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n;|&]*/g,
    value: /(\s-p["']?)([^\s"'$][^\s"']*)/g,
  },
  // sshpass -p password
  { words: ['sshpass'], command: /\bsshpass\b[^\n;|&]*/g, value: /(\s-p\s{0,3}["']?)([^\s"'$][^\s"']*)/g },
  // redis-cli -a password
  { words: ['redis-cli'], command: /\bredis-cli\b[^\n;|&]*/g, value: /(\s-a\s{1,3}["']?)([^\s"'$][^\s"']*)/g },
]

/** Near these words, 40 characters are an AWS secret key. Elsewhere they must look random. */
const awsContext = /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\baws\b|secret[ _-]?access[ _-]?key/i
const awsSecret = /(?<![\w/+=.-])[A-Za-z0-9/+]{40}(?![\w/+=-]|\.\w)/g

const rules: readonly Rule[] = [
  { words: ['-----begin '], replace: (text) => text.replace(pem, mark) },
  // Must run before the ids of AWS keys are replaced, because they are its context.
  { words: ['akia', 'asia', 'aws', 'access'], replace: withoutAwsSecrets },
  { replace: (text) => text.replace(awsSecret, (value) => (isMixed(value) && isRandom(value) ? mark : value)) },
  { replace: (text) => text.replace(prefixed, (key) => (/[\dA-Z]/.test(key) ? mark : key)) },
  { replace: (text) => text.replace(formed, mark) },
  {
    words: ['bearer ', 'basic '],
    replace: (text) =>
      text.replace(bearer, (all, header: string | undefined, scheme: string, value: string) =>
        header !== undefined || !isPlainWord(value) ? `${header ?? ''}${scheme}${mark}` : all,
      ),
  },
  { words: ['://'], replace: (text) => text.replace(inUrl, `$1${mark}`) },
  {
    words: ['cookie:'],
    replace: (text) => text.replace(cookie, (header) => header.replace(/=[^\s;,"']+/g, `=${mark}`)),
  },
  {
    words: ['passw', 'passphrase', 'pwd', 'secret', 'token', 'key', 'credential'],
    replace: (text) =>
      text.replace(named, (all, name: string, value: string, at: number) =>
        isName(name, text[at - 1] ?? '') && isValue(value, name) ? name + mark : all,
      ),
  },
  {
    words: ['--'],
    replace: (text) =>
      text.replace(flagged, (all, flag: string, value: string) => (/\d/.test(value) ? flag + mark : all)),
  },
  ...commands.map(
    ({ words, command, value }): Rule => ({
      words,
      replace: (text) => text.replace(command, (part) => part.replace(value, `$1${mark}`)),
    }),
  ),
]

/** A word of a sentence, such as "authentication" or "Understanding". */
function isPlainWord(value: string): boolean {
  return /^[A-Za-z]?[a-z]+[.,]?$/.test(value)
}

/** `PGPASSWORD=`, `dbPassword:`, `auth_token=`, `AUTHTOKEN=`; not `tiktoken:`. */
function isName(name: string, before: string): boolean {
  const isStart = !/[A-Za-z]/.test(before) || (/[a-z]/.test(before) && /^[A-Z]/.test(name))
  return isStart || /^pass(?:word|wd|phrase)/i.test(name) || isShellName(name)
}

function isShellName(name: string): boolean {
  return /^[A-Z_]+=/.test(name)
}

/** A variable, a placeholder, code, or the rest of a secret that is already replaced. */
const reference = /^(?:[$<>[{(%*=!]|process\.|os\.|env\b|ENV\b)/
/** `./key.pem`, `/etc/ssl/key.pem`, `~/.netrc` */
const path = /^(?:~|\.{1,2})?\/[\w.@-]*[/.]/
/** `password: string` */
const typeWord =
  /^(?:string|number|boolean|object|unknown|undefined|optional|required|missing|invalid|expired|redacted|hidden|encrypted|provided|present)\b/i
/** `e.password`, `getToken(`, `accessToken`, `Token<T>`, `z1.string(`. */
const code = /^[A-Za-z_$]+(?:[.?!]*[.([<|=+]|$)|^[\w$]+(?:\.[A-Za-z_$]+)+\(/

function isValue(value: string, name: string): boolean {
  if (reference.test(value) || path.test(value) || typeWord.test(value)) return false
  // `next token: 151643`
  if (/^token/i.test(name) && /^\d+$/.test(value)) return false
  // `DB_PASSWORD=letmein` is not code.
  if (/["']$/.test(name) || isShellName(name) || !code.test(value)) return true
  // `password: letmein`, but not `token: expired`
  return /^[a-z]+$/.test(value) && /^(?:pass|pwd|secret)/i.test(name)
}

function withoutAwsSecrets(text: string): string {
  const lines = text.split('\n')
  const isNear = lines.map((line) => awsContext.test(line))
  return lines.map((line, at) => (isNear[at] || isNear[at - 1] ? line.replace(awsSecret, awsMark) : line)).join('\n')
}

function awsMark(value: string): string {
  return isMixed(value) ? mark : value
}

/** A commit or checksum has only hexadecimal digits, and a path consists of words. */
function isMixed(value: string): boolean {
  return /[a-z]/.test(value) && /[A-Z]/.test(value) && /\d/.test(value)
}

/**
 * Of 40 random characters, about 25 differ in kind (capital, small letter, digit, sign) from the one before, and hardly any are
 * in a run of small letters. In `src/ReactHost/UiManager2/ViewConfig` most are.
 */
function isRandom(value: string): boolean {
  const changes = value.match(/[A-Z]+|[a-z]+|\d+|[/+]+/g)?.length ?? 0
  const inWords = value.match(/[a-z]{4,}/g)?.join('').length ?? 0
  return changes >= 14 && inWords < 16
}
