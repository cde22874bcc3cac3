import { apiError, type Wire } from '../../protocol/index.ts'
import { nameOf, ON_RAMPS, type OnRampName } from './providers.ts'

/** What somebody wants to buy, in the provider's words. */
export interface Order {
  readonly name: OnRampName
  readonly walletAddress: string
  readonly asset: string
  readonly network: string | undefined
  readonly fiatCurrency: string | undefined
  readonly fiatAmount: string | undefined
  readonly paymentMethod: string | undefined
  readonly urlForSignature: string | undefined
}

/** The published bound: more than this, in whatever currency. */
const MORE_THAN = 20

/** Reads what a request wants. Throws the refusal of what its provider does not have. */
export function readOrder(intent: Wire.InitFiatOnRampIntent): Order {
  const name = nameOf(intent.onrampProvider)
  const row = ON_RAMPS[name]
  const words: Readonly<Record<string, string>> = row.assets
  const [currency, network] = [lastWord(intent.cryptoCurrencyCode), lastWord(intent.network)]
  const asset = words[`${currency} ${network}`]
  if (asset === undefined)
    throw apiError('invalidField', 'cryptoCurrencyCode', `must be a currency of ${network}, as ${currency} is not`)
  const methods: Readonly<Record<string, string>> = row.paymentMethods
  const { paymentMethod, fiatCurrencyAmount = '' } = intent
  if (paymentMethod !== undefined && methods[paymentMethod] === undefined)
    throw apiError('invalidField', 'paymentMethod', `must be one of ${Object.keys(methods).join(', ')}`)
  if (
    fiatCurrencyAmount !== '' &&
    !(/^\d{1,12}(?:\.\d{1,2})?$/.test(fiatCurrencyAmount) && Number(fiatCurrencyAmount) > MORE_THAN)
  )
    throw apiError('invalidField', 'fiatCurrencyAmount', `must be a decimal number greater than ${MORE_THAN}`)
  checkCountry(intent)
  if (intent.urlForSignature && name !== 'moonpay')
    throw apiError('invalidField', 'urlForSignature', 'must be absent: MoonPay alone has signed URLs')
  const networks: Readonly<Record<string, string>> = row.networks
  return {
    name,
    walletAddress: intent.walletAddress,
    asset,
    network: networks[intent.network],
    fiatCurrency: intent.fiatCurrencyCode && lastWord(intent.fiatCurrencyCode),
    fiatAmount: fiatCurrencyAmount || undefined,
    paymentMethod: paymentMethod && methods[paymentMethod],
    urlForSignature: intent.urlForSignature || undefined,
  }
}

function checkCountry({ countryCode = '', countrySubdivisionCode = '' }: Wire.InitFiatOnRampIntent): void {
  if (countryCode !== '' && !/^[A-Z]{2}$/.test(countryCode))
    throw apiError('invalidField', 'countryCode', 'must be a code of ISO 3166-1 with two letters, such as US')
  if (countrySubdivisionCode !== '' && !/^[A-Z0-9]{1,3}$/.test(countrySubdivisionCode))
    throw apiError(
      'invalidField',
      'countrySubdivisionCode',
      'must be a code of ISO 3166-2 without its country, such as NY',
    )
  if (countryCode === 'US' && countrySubdivisionCode === '') throw apiError('missingField', 'countrySubdivisionCode')
}

/** What an enum's word says: `FIAT_ON_RAMP_CURRENCY_USD` is USD. */
function lastWord(word: string): string {
  return word.slice(word.lastIndexOf('_') + 1)
}
