import { QuorateError } from '../diagnostics/index.ts'
import type { ChainsSettings } from '../service/index.ts'

const FORM = /^((?:eip155|solana):[-\w]{1,32})=(https?:\/\/\S+)$/

/**
 * Reads which chains the service sends to: each `--chain ID=URL`, or else the same, separated by commas, in
 * `QUORATE_CHAINS`. @default none. Throws `cli/usage`.
 */
export function readChains(given: unknown, environment: Readonly<Record<string, string | undefined>>): ChainsSettings {
  const fromEnvironment = (environment['QUORATE_CHAINS'] ?? '').split(',').filter(Boolean)
  const [texts, name] = Array.isArray(given) ? [given.map(String), '--chain'] : [fromEnvironment, 'QUORATE_CHAINS']
  return Object.fromEntries(
    texts.map((text) => {
      const [, caip2, url] = FORM.exec(text.trim()) ?? []
      if (caip2 !== undefined && url !== undefined && URL.canParse(url)) return [caip2, { url }]
      throw new QuorateError('cli/usage', `expected ${name} to be a chain and its node, got \`${text}\``, {
        next: `write it as ${name === '--chain' ? '--chain ' : `${name}=`}eip155:11155111=http://127.0.0.1:8545`,
      })
    }),
  )
}
