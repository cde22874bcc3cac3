/** A private key that is typed where something else belongs is shown by nothing, nor is a mnemonic; that in every place in `key-echo.long.ts`. */
import { test } from 'vitest'
import { expectNotShown, KEY, MNEMONIC } from './key-echo.ts'

test('a private key in any argument, option or setting of any command is shown by nothing', () => expectNotShown(KEY))

test('a mnemonic in every fifth of them is shown by nothing', () => expectNotShown(MNEMONIC, { every: 5 }))
