/** Reads a decimal number as a whole one of its smallest unit; undefined when it is none, or has more places than that. */
export function parseDecimal(text: string, places: number): bigint | undefined {
  const [, whole, fraction = ''] = /^(\d{1,60})(?:\.(\d{1,60}))?$/.exec(text) ?? []
  if (whole === undefined || fraction.length > places) return undefined
  return BigInt(whole + fraction.padEnd(places, '0'))
}

/** Prints a whole number of the smallest unit as a decimal one, exactly and without zeros at its end: 12500000 with 6 is `12.5`. */
export function printDecimal(value: bigint, places: number): string {
  const digits = value.toString().padStart(places + 1, '0')
  const whole = digits.slice(0, digits.length - places)
  const fraction = digits.slice(whole.length).replace(/0+$/, '')
  return fraction === '' ? whole : `${whole}.${fraction}`
}
