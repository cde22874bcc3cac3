import { resolve } from 'node:path'
import { isKeyCurve, KEY_CURVES, type KeyCurve } from '../../crypto/index.ts'
import { EXIT, type ExitCode, QuorateError, withoutKeys } from '../../diagnostics/index.ts'
import { loadPrivateKey, writePrivateKey } from '../../stamp/index.ts'
import { Secret } from '../../telemetry/index.ts'
import { loadKey } from '../background/connect.ts'
import type { CommandInput } from '../command.ts'
import { writeJson } from '../io.ts'
import { line } from '../screen.ts'

/** What definitions say of an API key. */
interface KeyDefinition {
  readonly curve: string
  readonly publicKey: string
}

/** Makes an API key: its private half goes into a file of its owner's alone, its public half to stdout. */
export async function newKey(input: CommandInput): Promise<ExitCode> {
  const { io, json, args } = input
  const given = String(args[0])
  if (withoutKeys(given) !== given) {
    throw new QuorateError('cli/usage', 'the path of the new key holds a key itself', {
      next: 'give the path of a file to make; a key that was typed is in the history of the shell: replace it',
    })
  }
  const file = resolve(given)
  const curve = curveOf(input)
  const { privateKey, publicKey } = KEY_CURVES[curve].generateKeyPair()
  await writePrivateKey(file, { curve, publicKey, privateKey: new Secret(privateKey) })
  // Read back by the rules that every command keeps, so that a key that none can use is never registered.
  const key = definitionOf(await loadPrivateKey({ kind: 'file', path: file }))
  if (json) writeJson(io, { file, ...key })
  else {
    io.out(lines(key))
    io.say(
      line`The private key is in ${file}, and nowhere else: keep it out of Git. Definitions take the lines above under \`apiKeys\` of its user.\n`,
    )
  }
  return EXIT.done
}

/** Shows the public half of the key that the settings name; asks the API nothing. */
export async function showKey({ io, json, settings }: CommandInput): Promise<ExitCode> {
  if (!settings.key) {
    throw new QuorateError('cli/usage', 'no key is named', {
      next: 'give `--key-file FILE`; `quorate whoami` shows the key of a session, or of the embedded service',
    })
  }
  const key = definitionOf(await loadKey(settings.key, settings))
  if (json) writeJson(io, key)
  else io.out(lines(key))
  return EXIT.done
}

function definitionOf({
  curve = 'p256',
  publicKey,
}: {
  readonly curve?: KeyCurve
  readonly publicKey: string
}): KeyDefinition {
  return { curve: curve.toUpperCase(), publicKey }
}

const lines = ({ curve, publicKey }: KeyDefinition) => line`curve: ${curve}\npublicKey: ${publicKey}\n`

function curveOf({ options }: CommandInput): KeyCurve {
  const given = options['curve'] ?? 'p256'
  const curve = String(given).toLowerCase()
  if (isKeyCurve(curve)) return curve
  throw new QuorateError('cli/usage', `no API key is on the curve \`${given}\``, {
    next: `give one of ${Object.keys(KEY_CURVES).join(', ')}`,
  })
}
