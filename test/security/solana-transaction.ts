/** A transaction of Solana with this many instructions, each of which calls nothing with nothing. */
export function solanaTransaction(instructions: number): string {
  const compact = (value: number) => {
    const bytes: number[] = []
    for (let rest = value; ; ) {
      const low = rest & 0x7f
      rest >>= 7
      bytes.push(rest === 0 ? low : low | 0x80)
      if (rest === 0) return Buffer.from(bytes)
    }
  }
  const keys = Buffer.concat([Buffer.alloc(32, 1), Buffer.alloc(32, 2)])
  const each = Buffer.concat(Array.from({ length: instructions }, () => Buffer.from([1, 0, 0])))
  const message = Buffer.concat([Buffer.from([1, 0, 1, 2]), keys, Buffer.alloc(32, 3), compact(instructions), each])
  return Buffer.concat([Buffer.from([1]), Buffer.alloc(64), message]).toString('hex')
}
