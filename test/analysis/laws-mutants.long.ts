/** Each law of the answers to who can do what, with the mistake in the analysis that breaks it. */
import { test } from 'vitest'
import { expectBroken, LAWS } from './laws.ts'

test.each(LAWS)('$name: not where $mutant.mistake', expectBroken)
