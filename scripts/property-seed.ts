// Runs before each test file: properties try the same cases every time, so that a failing test fails for everybody.
// `EVERLONG_SEED=random npm test` looks for new cases; a number tries the cases of that seed.
import fc from 'fast-check'

const asked = process.env.EVERLONG_SEED
if (asked !== 'random') fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(asked ?? 20_261_115) })
