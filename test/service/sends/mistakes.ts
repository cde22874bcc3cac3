/**
 * The rules of paying once, each left out of the service as somebody would who has not thought of it: the trial that tells it from
 * the service, and the text of the source that it changes.
 */
import type { Mutant } from '../../mutated.ts'

export type Rule = Mutant & {
  /** The trial by which it is found. */
  readonly by: string
}

const of = (
  file: string,
  rules: readonly (readonly [mistake: string, by: string, from: string, to: string])[],
): readonly Rule[] => rules.map(([mistake, by, from, to]) => ({ mistake, by, file: `service/sends/${file}`, from, to }))

const REFUSED_LONG =
  'one that is taken, and refused for long because its nonce was used is paid once and told as included'
const REFUSED_ONCE = 'one that is taken, and refused for want of funds is paid once and told as included'
const NO_RECEIPT = 'one that has no receipt for a while, although it is counted is paid once and told as included'
const REPLACED = 'one is replaced when what has its nonce is known, is settled, and every node says so'
const OPEN_BEHIND =
  'one that a store has open which turns out to be behind its chain is not signed before an operator says so'
const HELD_ALONE =
  'what an organization has open whose key may have been used elsewhere while no service ran waits for an operator, and it alone'
const HELD = 'nothing is signed of an address that has sent from elsewhere what is not identified'

const IDLE = 'a transfer of a token that would move nothing is not sent'

const FAILED = "changeSend(tools, row, { status: 'FAILED', failure: JSON.stringify(failure('replaced')) })"

export const ETHEREUM_MISTAKES: readonly Rule[] = [
  ...of('broadcast.ts', [
    [
      'a nonce is given back, and nobody asks what used it',
      REFUSED_LONG,
      'const user = await findNonceUser(node, { address: row.sender, nonce: BigInt(row.nonce!) })',
      "if (row) {\n  await database.write(async (tx) => {\n    await deleteAttempts(tx, row)\n    await updateSend(tx, row, { nonce: null, hash: null })\n  })\n  return 'free'\n}\nconst user = undefined as never",
    ],
    [
      'a second "nonce too low" is the end',
      REFUSED_LONG,
      'isNonceLost(row, refusal) ? await giveNonceBack(row) : await giveUp(row, refusal)',
      'await giveUp(row, refusal)',
    ],
    [
      'the first refusal is believed',
      REFUSED_ONCE,
      'if (!doubts.isSaidAgain(row.id, { head: await node.blockNumber() })) {',
      'if (!node) {',
    ],
  ]),
  ...of('watch.ts', [
    [
      'the first null receipt is believed',
      NO_RECEIPT,
      'return replaced(row, { latest, attempts })',
      `return ${FAILED}`,
    ],
    [
      'what took its place may still be taken back',
      REPLACED,
      '!isFinal(chain, { number: user.blockNumber, latest }) || !(await isWitnessed(tools, user))',
      'false',
    ],
    [
      'the own hash is not asked for',
      'one that is in a settled block, and has a receipt of another, is not replaced by itself',
      'if (attempts.some(({ hash }) => hash === user.hash)) return',
      '',
    ],
    [
      'the first receipt that says so is believed of a payment',
      'one that was reverted is not told as paid because one receipt says so',
      'return again?.succeeded === true && again.blockHash === blockHash ?',
      'return again ?',
    ],
    [
      'a receipt is believed against its block',
      'one whose receipts all say that it was reverted is not, where the hash of their block says otherwise',
      'if (await node.outcomeByRoot(receipt.blockNumber, hash)) {',
      'if (!tools) {',
    ],
    [
      'one that was replaced is told as given up',
      REPLACED,
      "changeSend(tools, row, { status: 'FAILED', failure: JSON.stringify(failure(message)) })",
      "changeSend(tools, row, { status: 'FAILED', nonce: null, hash: null, failure: JSON.stringify(failure(message)) })",
    ],
    ['one node decides alone', REPLACED, '|| !(await isWitnessed(tools, user)))', ')'],
  ]),
  ...of('included.ts', [
    [
      'a receipt counts whatever its block is',
      'a receipt that a lying node makes up is not told as included',
      'if (block?.hash === receipt.blockHash) return',
      'if (block?.hash !== receipt.from) return',
    ],
  ]),
  ...of('settlement.ts', [
    [
      'a node is believed beyond its head',
      'a node that lags takes nothing back',
      'if (head < number) return',
      'if (head < 0n) return',
    ],
    [
      'a block is taken back at the first look',
      'a node that denies a block once takes nothing back',
      'const since = missingSince.get(row.id)',
      'const since = missingSince.get(row.id) ?? -1n',
    ],
  ]),
  ...of('settlement.ts', [
    [
      'what was included stays so when its block is taken back',
      'what a block had that was taken back is offered again with the same bytes, and told so',
      'await reopenSend(tools, row)',
      '',
    ],
  ]),
  ...of('idle-transfer.ts', [
    [
      'a token is paid at an address that has no code',
      IDLE,
      "if ((await node.code(call.to)) === '0x') {",
      "if ((await node.code(call.to)) === '') {",
    ],
    [
      'a token that answers that it will not pay is asked to',
      IDLE,
      'const isRefused = FALSE',
      'const isRefused = /^no$/',
    ],
  ]),
  ...of('../chains/chains.ts', [
    [
      'fees are raised where nobody has said so',
      'what waits is not offered for more where nobody has said so',
      "bump: 'never' as const",
      "bump: 'auto' as const",
    ],
  ]),
  ...of('completion.ts', [
    [
      'a fee has no ceiling',
      'no tip and no price that a node names costs more than the ceiling',
      'await offerFees(node, tools.chain)',
      'await offerFees(node, { maxFeePerGas: 10n ** 18n, feeMultiple: 1_000_000 })',
    ],
  ]),
  ...of('giving-up.ts', [
    [
      'a node is believed at once that one would fail',
      'one is not given up because nodes say once that it would fail',
      'const isSaidAgain = doubts.isSaidAgain(row.id, { head: await head(), what: withoutNumbers(message) })',
      'const isSaidAgain = true',
    ],
    [
      'one node alone has a send given up before it is signed',
      'one is not given up while a further node does not say that it would fail, and says so',
      'isSaidAgain ? await findDissent(row) :',
      'isSaidAgain ? undefined :',
    ],
  ]),
  ...of('completion.ts', [
    [
      'the first count of a new address is believed at once',
      'one of a new address is not signed with a nonce that a node says once',
      'if (isFirst && (await node.pendingCount(row.sender)) !== next) {',
      'if (isFirst && !tools) {',
    ],
  ]),
  ...of('../nodes/node.ts', [
    [
      'who is not let through to a node was refused by it',
      'one that is tried and taken by a node whose gateway lets nobody through is paid once and told as included',
      'NOT_LET_THROUGH.has(status) || GARBLED.has(code)',
      'GARBLED.has(code)',
    ],
    [
      'a method that is missing for a while is a refusal',
      'one that is tried and taken by a node that has no such method for a while is paid once and told as included',
      'if (code === NO_METHOD && SERVED_BY_ALL.has(method)) return true',
      '',
    ],
  ]),
  ...of('../nodes/ethereum.ts', [
    [
      'the receipt of another transaction is taken',
      'one that waits is not told as included by the receipt of another of its sender',
      'if (found.transactionHash?.toLowerCase() !== hash.toLowerCase()) return',
      'if (found.transactionHash === hash.slice(1)) return',
    ],
  ]),
  ...of('lane.ts', [
    ['an address that is behind its chain goes on', HELD, 'if (unknown !== undefined) return', 'if (!tools) return'],
    [
      'what a restored store has open goes on by itself',
      OPEN_BEHIND,
      "row.held_by_restore === 1 && chain.unknownNonces !== 'follow'",
      "row.held_by_restore === 2 && chain.unknownNonces !== 'follow'",
    ],
  ]),
  ...of('ethereum-behind.ts', [
    ['what a copied store has open is not held', OPEN_BEHIND, 'await holdOpenSends(tx)', ''],
    ['what is open of one whose key was used elsewhere is not held', HELD_ALONE, 'await holdOpenSends(tx, each)', ''],
    ['a key that was used elsewhere holds all', HELD_ALONE, '!(await isUsedElsewhere(tx, tenants))', 'tenants'],
  ]),
]

const FAILS_ONCE =
  'one is not given up because a Solana node says once that it would fail, nor while a further node does not say so'

export const SOLANA_MISTAKES: readonly Rule[] = [
  ...of('solana-completion.ts', [
    [
      'a Solana node is believed at once that one would fail',
      FAILS_ONCE,
      'if (isSendRefusal(prepared)) return await givingUp.judge(row, prepared)',
      'if (isSendRefusal(prepared)) return prepared',
    ],
  ]),
  ...of('solana-watch.ts', [
    [
      'what a Solana node has refused is signed anew',
      'one that a node refuses for good has failed when nobody has it and its blockhash is gone',
      'if (isRefused(row)) return',
      'if (!tools) return',
    ],
    [
      'the first denial of a Solana node is believed',
      'one that is in a block is not signed anew because a node that knows the newest slot denies it once',
      'if (!denials.isSaidAgain(hash, { head: slot })) return',
      '',
    ],
    [
      'a Solana node is believed beyond its slot',
      'one that was included in its last block is not signed anew by the word of a node that lags',
      "if (slot < gone) return 'unknown'",
      '',
    ],
    [
      'a blockhash that the last blocks do not take any more has expired',
      'what the service has dated is signed anew when the first can never be included, and not before',
      'blockHeight > lastValidBlockHeight ?',
      'blockHeight + 2 > lastValidBlockHeight ?',
    ],
    [
      'what a Solana node has thrown away never was',
      'a node that has thrown away what was since the signing cannot tell, and nothing is signed anew',
      '(await node.firstAvailableBlock()) <= readSolanaTerms(attempt).slot',
      '(await node.firstAvailableBlock()) >= 0',
    ],
    [
      'what one method of a Solana node denies never was',
      'one that is in a block is not signed anew by a node that always denies its status',
      'if (found) return { status: found }',
      '',
    ],
    [
      'what a Solana node has and does not list never was',
      'one that a node has, and no method that lists it tells, is not signed anew, and says why',
      '(await node.bytesOf(attempt.hash)) === undefined',
      'node',
    ],
    [
      'further Solana nodes are not asked before it is signed anew',
      'one that a further node has is not signed anew by a node that denies it by every method',
      "if (other === 'never') continue",
      'if (other) continue',
    ],
    [
      'a further Solana node that gives no answer is passed over',
      'one is not signed anew while a further node gives no answer, and says so',
      'if (!(error instanceof NodeRefusal)) await noteDoubt(row, FURTHER_SILENT)\n        throw error',
      "return 'never' as const",
    ],
    [
      'one Solana node of two settles a send',
      'one that is settled by one node alone of two is not told as included',
      '!(await isWitnessed(hash, status))',
      '!tools',
    ],
    [
      'a Solana node is believed at once that a send is settled',
      'one that a node says once is settled, and that is in no block, is neither included nor failed',
      'if ((run === undefined || err !== null) && !(await isBorneOut({ row, attempt }, status))) return',
      'if (!tools) return',
    ],
    [
      'a Solana node that says that a send failed and shows it as done is believed',
      'one that a node says has failed, and shows as done, is not told as failed',
      'run !== undefined && (err === null) !== (run.error === null)',
      'run === null',
    ],
    [
      'a Solana node that says twice that a send is settled is not asked for the block',
      'one that a node says for long is settled, and its block has not, is neither included nor failed, and says so',
      "if (found === 'not kept' || found === (err === null ? 'succeeded' : 'failed')) return true",
      'return true',
    ],
    [
      'a Solana node is believed beyond the slot that it has reached',
      'one that a node that keeps no blocks says is settled counts when it says so at a later slot, as far as it has come',
      'head < slot || !ends',
      '!ends',
    ],
    [
      'the height that came with a blockhash is believed',
      'a blockhash that may still be used is not taken for expired by the height that a node gave with it',
      'nonceAccount === undefined && (await node.isBlockhashValid(blockhash))',
      'blockhash === undefined',
    ],
  ]),
]
