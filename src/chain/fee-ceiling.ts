/**
 * The most that a transaction may offer for a unit of gas, from what recent blocks took: medians, which one block cannot move, times
 * a multiple, and never above the chain's cap.
 */

/**
 * The multiple where nobody says another. Base fees move by an eighth a block at most: in half of the blocks that are looked back upon,
 * threefold.
 */
export const FEE_MULTIPLE = 4
/** Where blocks were empty, nobody has offered anything of late: what is taken for a usual tip is never less, in wei. */
const LEAST_USUAL_TIP = 2_000_000_000n

/** For a unit of gas, in wei. */
export interface UsualFees {
  readonly baseFee: bigint
  readonly tip: bigint
}

/** What `eth_feeHistory` answers, as far as it is read. */
export interface FeeHistory {
  readonly baseFeePerGas?: readonly string[]
  readonly reward?: readonly (readonly string[])[] | null
}

/** The parameters of `eth_feeHistory`: the last twenty blocks, and of each the median tip. */
export const FEE_HISTORY_CALL = ['0x14', 'latest', [50]] as const

/** The medians of the base fees and tips of recent blocks; undefined where the node does not keep them. */
export function usualFeesOf(history: FeeHistory | null): UsualFees | undefined {
  // The last base fee is that of the block to come.
  const baseFees = (history?.baseFeePerGas ?? []).slice(0, -1).map(BigInt)
  const tips = (history?.reward ?? []).map(([tip]) => BigInt(tip ?? '0x0'))
  return baseFees.length === 0 ? undefined : { baseFee: median(baseFees), tip: median(tips) }
}

/** The most that is believed of a base fee and of a tip, by what is usual. */
export function mostOfUsual({ baseFee, tip }: UsualFees, times: number): UsualFees {
  const usualTip = tip > LEAST_USUAL_TIP ? tip : LEAST_USUAL_TIP
  return { baseFee: BigInt(times) * baseFee, tip: BigInt(times) * usualTip }
}

/** The ceiling for the whole of a unit of gas: room for the highest base fee that is believed to double, beneath the cap. */
export function feeCeilingOf(
  usual: UsualFees | undefined,
  { cap, times }: { readonly cap: bigint; readonly times: number },
): bigint {
  if (usual === undefined) return cap
  const most = mostOfUsual(usual, times)
  const ceiling = 2n * most.baseFee + most.tip
  return ceiling < cap ? ceiling : cap
}

function median(values: readonly bigint[]): bigint {
  return values.toSorted((one, other) => (one < other ? -1 : 1))[Math.floor(values.length / 2)] ?? 0n
}
