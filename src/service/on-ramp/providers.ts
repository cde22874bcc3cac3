/** The on-ramp providers, one row each: where they are, and how they spell what the API names (docs/protocol/on-ramp.md). */
import type { Wire } from '../../protocol/index.ts'

/** Where a provider is: its page for people, and its API for programs. */
interface Places {
  readonly widget: string
  readonly api: string
}

interface ProviderRow {
  readonly provider: Wire.FiatOnRampProvider
  readonly live: Places
  readonly sandbox: Places
  /** The currency on a chain, by its name and the chain's; one without a word cannot be bought there. */
  readonly assets: Readonly<Record<string, string>>
  readonly networks: { readonly [Network in Wire.FiatOnRampBlockchainNetwork]?: string }
  readonly paymentMethods: { readonly [Method in Wire.FiatOnRampPaymentMethod]?: string }
}

const MOONPAY_API = 'https://api.moonpay.com'
const COINBASE_API = 'https://api.developer.coinbase.com'

export const ON_RAMPS = {
  moonpay: {
    provider: 'FIAT_ON_RAMP_PROVIDER_MOONPAY',
    live: { widget: 'https://buy.moonpay.com', api: MOONPAY_API },
    sandbox: { widget: 'https://buy-sandbox.moonpay.com', api: MOONPAY_API },
    assets: {
      'BTC BITCOIN': 'btc',
      'ETH ETHEREUM': 'eth',
      'ETH BASE': 'eth_base',
      'SOL SOLANA': 'sol',
      'USDC ETHEREUM': 'usdc',
      'USDC SOLANA': 'usdc_sol',
      'USDC BASE': 'usdc_base',
    },
    networks: {},
    paymentMethods: {
      FIAT_ON_RAMP_PAYMENT_METHOD_CREDIT_DEBIT_CARD: 'credit_debit_card',
      FIAT_ON_RAMP_PAYMENT_METHOD_APPLE_PAY: 'apple_pay',
      FIAT_ON_RAMP_PAYMENT_METHOD_GBP_BANK_TRANSFER: 'gbp_bank_transfer',
      FIAT_ON_RAMP_PAYMENT_METHOD_GBP_OPEN_BANKING_PAYMENT: 'gbp_open_banking_payment',
      FIAT_ON_RAMP_PAYMENT_METHOD_GOOGLE_PAY: 'google_pay',
      FIAT_ON_RAMP_PAYMENT_METHOD_SEPA_BANK_TRANSFER: 'sepa_bank_transfer',
      FIAT_ON_RAMP_PAYMENT_METHOD_PIX_INSTANT_PAYMENT: 'pix_instant_payment',
      FIAT_ON_RAMP_PAYMENT_METHOD_PAYPAL: 'paypal',
      FIAT_ON_RAMP_PAYMENT_METHOD_VENMO: 'venmo',
      FIAT_ON_RAMP_PAYMENT_METHOD_MOONPAY_BALANCE: 'moonpay_balance',
    },
  },
  coinbase: {
    provider: 'FIAT_ON_RAMP_PROVIDER_COINBASE',
    live: { widget: 'https://pay.coinbase.com/buy/select-asset', api: COINBASE_API },
    sandbox: { widget: 'https://pay-sandbox.coinbase.com', api: COINBASE_API },
    assets: {
      'BTC BITCOIN': 'BTC',
      'ETH ETHEREUM': 'ETH',
      'ETH BASE': 'ETH',
      'SOL SOLANA': 'SOL',
      'USDC ETHEREUM': 'USDC',
      'USDC SOLANA': 'USDC',
      'USDC BASE': 'USDC',
    },
    networks: {
      FIAT_ON_RAMP_BLOCKCHAIN_NETWORK_BITCOIN: 'bitcoin',
      FIAT_ON_RAMP_BLOCKCHAIN_NETWORK_ETHEREUM: 'ethereum',
      FIAT_ON_RAMP_BLOCKCHAIN_NETWORK_SOLANA: 'solana',
      FIAT_ON_RAMP_BLOCKCHAIN_NETWORK_BASE: 'base',
    },
    paymentMethods: {
      FIAT_ON_RAMP_PAYMENT_METHOD_CREDIT_DEBIT_CARD: 'CARD',
      FIAT_ON_RAMP_PAYMENT_METHOD_APPLE_PAY: 'APPLE_PAY',
      FIAT_ON_RAMP_PAYMENT_METHOD_CRYPTO_ACCOUNT: 'CRYPTO_ACCOUNT',
      FIAT_ON_RAMP_PAYMENT_METHOD_FIAT_WALLET: 'FIAT_WALLET',
      FIAT_ON_RAMP_PAYMENT_METHOD_ACH_BANK_ACCOUNT: 'ACH_BANK_ACCOUNT',
    },
  },
} as const satisfies Readonly<Record<string, ProviderRow>>

export type OnRampName = keyof typeof ON_RAMPS
export const ON_RAMP_NAMES = Object.keys(ON_RAMPS) as readonly OnRampName[]

/** Where a provider is instead of where its row says, without a slash at its end: its stand-in. */
export type OnRampUrls = { readonly [Name in OnRampName]?: string }

/** The name of a provider's row. */
export function nameOf(provider: Wire.FiatOnRampProvider): OnRampName {
  return ON_RAMP_NAMES.find((name) => ON_RAMPS[name].provider === provider)!
}

/** Where a provider is, for money or for tests. */
export function placesOf(name: OnRampName, urls: OnRampUrls, isSandbox: boolean): Places {
  const url = urls[name]
  return url === undefined ? ON_RAMPS[name][isSandbox ? 'sandbox' : 'live'] : { widget: url, api: url }
}
