/** A mnemonic that is typed where something else belongs is shown by nothing. */
import { test } from 'vitest'
import { expectNotShown, MNEMONIC } from './key-echo.ts'

test('a mnemonic in any argument, option or setting of any command is shown by nothing', () => expectNotShown(MNEMONIC))
