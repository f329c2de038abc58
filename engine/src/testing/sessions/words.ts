// Word lists for made-up sessions. Never taken from a real transcript.

type Words = readonly [string, ...string[]]

function list(text: string, separator = ' '): Words {
  const [first = '', ...rest] = text.split(separator)
  return [first, ...rest]
}

export const verbs = list(
  'add check move rename split merge trace guard limit cache parse render store load retry queue flush ' +
    'index sort filter validate report measure close',
)
export const nouns = list(
  'orchard ledger invoice session window parcel station ticket harbour signal basket worker channel report ' +
    'account schedule sensor garden router packet customer lantern archive bridge catalog courier meadow ' +
    'reading timetable warehouse',
)
export const adjectives = list(
  'empty late stale shared local narrow quiet steady double broken missing recent large plain strict ' +
    'partial nightly hidden simple careful',
)
export const joiners = list(
  'because|so that|while|although|whenever|before|after|and|but|unless|until|which means',
  '|',
)
export const phrases = list(
  'the test passes again|nothing else depends on it|the old behavior stays as it was|' +
    'it fails only on the second run|the caller already holds the lock|we read the value twice|' +
    'the order of the rows is not fixed|the page loads without it|the type says otherwise|' +
    'the limit is counted per minute|the log shows two requests|the fixture has a trailing space|' +
    'that is covered by another test|the default is far too small',
  '|',
)
/** A few percent of real lines contain more than ASCII: readers must count bytes, not characters. */
export const foreign = list('café naïve Größe señal Ørsted поезд 駅の時刻表 창고 مستودع → ✓ — 🚆 👩🏽‍🌾 zażółć 𝛼β')
export const folders = list('src src/api src/store src/jobs src/views test docs scripts')
export const slugAdjectives = list('amber brisk calm dapper early fuzzy gentle humble')
export const slugVerbs = list('drifting gliding humming jumping knitting rowing sailing whistling')
export const slugNouns = list('badger cedar falcon heron maple otter pebble willow')
