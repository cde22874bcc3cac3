import { namespaceOf, normalizeCaip2 } from '../chain/index.ts'
import { QuorateError } from '../diagnostics/index.ts'
import { parseDecimal } from '../encoding/index.ts'
import type { ChainsSettings } from '../service/index.ts'

type ChainSettings = ChainsSettings[string]
type Environment = Readonly<Record<string, string | undefined>>

interface Row {
  readonly option: 'chain' | 'price' | 'token' | 'gasStation' | 'confirmations' | 'feeCap' | 'feeMultiple'
  readonly variable: string
  readonly what: string
  /** The chain's id, then the value of the option. */
  readonly form: RegExp
  readonly example: string
}

const CHAIN = '((?:eip155|solana):[-\\w]{1,44})'
const ROWS = {
  chain: {
    option: 'chain',
    variable: 'QUORATE_CHAINS',
    what: 'a chain and its node',
    form: new RegExp(`^${CHAIN}=(https?://[^\\s,]+(?:,https?://[^\\s,]+)*)$`),
    example: 'eip155:11155111=http://127.0.0.1:8545',
  },
  price: {
    option: 'price',
    variable: 'QUORATE_PRICES',
    what: 'a chain and the dollars that one of its currency costs',
    form: new RegExp(`^${CHAIN}=(\\d{1,12}(?:\\.\\d{1,6})?)$`),
    example: 'eip155:1=3000.50',
  },
  token: {
    option: 'token',
    variable: 'QUORATE_TOKENS',
    what: 'the CAIP-19 id of a token',
    form: new RegExp(`^${CHAIN}/(?:erc20:(?=0x)|token:)(0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$`),
    example: 'eip155:1/erc20:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
  },
  gasStation: {
    option: 'gasStation',
    variable: 'QUORATE_GAS_STATIONS',
    what: 'a chain, the address of a gas station and that of its delegate',
    form: /^(eip155:\d{1,32})=(0x[0-9a-fA-F]{40}\/0x[0-9a-fA-F]{40})$/,
    example: 'eip155:1=0x1cBBD58E521e1133F09E2Ba207e3e75c4DB404D5/0x2a31eF110e4Cdb9C332aA1d8633510214299c48B',
  },
  confirmations: {
    option: 'confirmations',
    variable: 'QUORATE_CONFIRMATIONS',
    what: 'a chain and how many blocks make a send final there',
    form: /^(eip155:\d{1,32})=([1-9]\d{0,5})$/,
    example: 'eip155:1=64',
  },
  feeCap: {
    option: 'feeCap',
    variable: 'QUORATE_FEE_CAPS',
    what: 'a chain and the most gwei that a unit of gas may cost, on Solana the most SOL that a send may',
    form: new RegExp(`^${CHAIN}=(\\d{1,9}(?:\\.\\d{1,9})?)$`),
    example: 'eip155:1=200',
  },
  feeMultiple: {
    option: 'feeMultiple',
    variable: 'QUORATE_FEE_MULTIPLES',
    what: 'a chain and how many times what recent blocks took may be offered',
    form: new RegExp(`^${CHAIN}=([1-9]\\d{0,2})$`),
    example: 'eip155:1=3',
  },
} as const satisfies Record<string, Row>

/** The variables that say which chains there are, and what of them. */
export const CHAIN_VARIABLES: readonly string[] = [
  ...Object.values(ROWS).map(({ variable }) => variable),
  'QUORATE_BUMP',
]

/**
 * Reads the chains that the service serves: each `--chain ID=URL`, with further nodes behind commas, and of them what the other
 * options say; where an option is not given, the same from its variable, separated by commas. @default none. Throws `cli/usage`.
 */
export function readChains(options: Readonly<Record<string, unknown>>, environment: Environment): ChainsSettings {
  const chains: Record<string, ChainSettings> = {}
  const bump = readBump(options['bump'] ?? environment['QUORATE_BUMP'])
  for (const { caip2, value, said } of read(ROWS.chain, options, environment)) {
    const [url, ...witnesses] = value.split(',') as [string, ...string[]]
    if (![url, ...witnesses].every((each) => URL.canParse(each))) throw misread(ROWS.chain, said)
    chains[caip2] = { url, ...(witnesses.length === 0 ? {} : { witnesses }), ...(bump === undefined ? {} : { bump }) }
  }
  const change = (row: Row, caip2: string, changeOf: (chain: ChainSettings) => Partial<ChainSettings>) => {
    const chain = chains[caip2]
    if (chain === undefined) throw notServed(row, caip2)
    chains[caip2] = { ...chain, ...changeOf(chain) }
  }
  for (const { caip2, value } of read(ROWS.price, options, environment)) {
    change(ROWS.price, caip2, () => ({ usdPrice: value }))
  }
  for (const { caip2, value } of read(ROWS.token, options, environment)) {
    change(ROWS.token, caip2, ({ tokens = [] }) => ({ tokens: [...tokens, value] }))
  }
  for (const { caip2, value } of read(ROWS.gasStation, options, environment)) {
    const [station, delegate] = value.split('/') as [string, string]
    change(ROWS.gasStation, caip2, () => ({ gasStation: { station, delegate } }))
  }
  for (const { caip2, value } of read(ROWS.confirmations, options, environment)) {
    change(ROWS.confirmations, caip2, () => ({ confirmations: Number(value) }))
  }
  for (const { caip2, value } of read(ROWS.feeCap, options, environment)) {
    const cap = parseDecimal(value, GWEI_PLACES)!
    change(ROWS.feeCap, caip2, () => (namespaceOf(caip2) === 'solana' ? { maxLamports: cap } : { maxFeePerGas: cap }))
  }
  for (const { caip2, value } of read(ROWS.feeMultiple, options, environment)) {
    change(ROWS.feeMultiple, caip2, () => ({ feeMultiple: Number(value) }))
  }
  return chains
}

/** The nodes of each chain. Throws `cli/usage`. */
export function readNodes(environment: Environment): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(read(ROWS.chain, {}, environment).map(({ caip2, value }) => [caip2, value.split(',')]))
}

/** How many blocks make a send final, of chains with and without nodes. Throws `cli/usage`. */
export function readConfirmations(
  options: Readonly<Record<string, unknown>>,
  environment: Environment,
): Readonly<Record<string, number>> {
  const said = read(ROWS.confirmations, options, environment)
  return Object.fromEntries(said.map(({ caip2, value }) => [caip2, Number(value)]))
}

/** How many times what recent blocks took is offered at most, of chains with and without nodes. Throws `cli/usage`. */
export function readFeeMultiples(environment: Environment): Readonly<Record<string, number>> {
  const said = read(ROWS.feeMultiple, {}, environment)
  return Object.fromEntries(said.map(({ caip2, value }) => [caip2, Number(value)]))
}

/** The caps of fees, in wei for a unit of gas and in lamports for a send, of chains with and without nodes. Throws `cli/usage`. */
export function readFeeCaps(environment: Environment): Readonly<Record<string, bigint>> {
  const wei = (gwei: string) => parseDecimal(gwei, GWEI_PLACES)!
  return Object.fromEntries(read(ROWS.feeCap, {}, environment).map(({ caip2, value }) => [caip2, wei(value)]))
}

/** The digits between gwei and wei, and between SOL and lamports. */
const GWEI_PLACES = 9

function readBump(given: unknown): 'never' | 'auto' | undefined {
  if (given === undefined || given === '' || given === 'never' || given === 'auto') return given || undefined
  throw new QuorateError('cli/usage', `expected --bump to be \`never\` or \`auto\`, got \`${String(given)}\``, {
    next: 'with `auto` the service offers more for what is not included, up to the cap of --fee-cap',
  })
}

interface Said {
  readonly name: string
  readonly text: string
}

function read(row: Row, options: Readonly<Record<string, unknown>>, environment: Environment) {
  const given = options[row.option]
  // A comma stands before each chain, and before each further node of one.
  const fromEnvironment = (environment[row.variable] ?? '').split(/,(?!https?:)/).filter(Boolean)
  const [texts, name] = Array.isArray(given) ? [given.map(String), flagOf(row)] : [fromEnvironment, row.variable]
  return texts.map((text) => {
    const [, caip2, value] = row.form.exec(text.trim()) ?? []
    const said = { name, text }
    if (caip2 === undefined || value === undefined) throw misread(row, said)
    return { caip2: normalizeCaip2(caip2), value, said }
  })
}

function flagOf({ option }: Row): string {
  return `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

function misread({ what, example }: Row, { name, text }: Said): QuorateError {
  return new QuorateError('cli/usage', `expected ${name} to be ${what}, got \`${text}\``, {
    next: `write it as ${name.startsWith('--') ? `${name} ` : `${name}=`}${example}`,
  })
}

function notServed(row: Row, caip2: string): QuorateError {
  const word = flagOf(row).slice(2).replace('-', ' ')
  return new QuorateError('cli/usage', `a ${word} is said of chain ${caip2}, which has no node`, {
    next: `name its node too: --chain ${caip2}=URL`,
  })
}
