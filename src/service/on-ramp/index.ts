/**
 * On-ramp: where somebody buys currency of a chain for money, at a provider's page. Knows no activity; `fiat-on-ramp` of the
 * resources keeps credentials and what was begun.
 */
export { type BegunOnRamp, createOnRamp, type OnRamp } from './on-ramp.ts'
export { ON_RAMP_NAMES, type OnRampName, type OnRampUrls } from './providers.ts'
