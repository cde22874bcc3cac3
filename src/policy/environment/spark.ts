import { int, list, string, struct } from '../types.ts'
import { defaulted, field, type StructTable } from './row.ts'

/**
 * Spark, through `activity.params` (docs/protocol/policies.md#fields): the documented exception to the missing-field rule.
 * Omitted optional texts are '' and fields of an inactive variant read as their type's default.
 */
export const sparkStructs: StructTable = {
  SparkSignatureRequest: {
    doc: 'a signature that is asked for',
    fields: [
      defaulted('derivation', struct('SparkKeyDerivation'), {}, 'key that signs'),
      field('message', string, 'message'),
      field('verifying_key', string, 'verifying key'),
      field('operator_commitments', list(struct('SparkFrostCommitment')), 'commitments of the operators'),
      defaulted('adaptor_public_key', string, '', "'' when omitted"),
    ],
  },
  SparkKeyDerivation: {
    doc: 'which key is meant; test `type` before the fields of a variant',
    fields: [
      defaulted('type', string, '', "identity, signing_leaf, deposit, static_deposit, htlc_preimage, or '' when unset"),
      defaulted('signing_leaf', struct('SparkSigningLeafDerivation'), {}, 'variant signing_leaf'),
      defaulted('static_deposit', struct('SparkStaticDepositDerivation'), {}, 'variant static_deposit'),
    ],
  },
  SparkSigningLeafDerivation: {
    doc: 'the key of a leaf',
    fields: [defaulted('leaf_id', string, '', "'' when not the active variant")],
  },
  SparkStaticDepositDerivation: {
    doc: 'the key of a static deposit',
    fields: [defaulted('index', int, 0n, '0 when not the active variant, and a valid index')],
  },
  SparkFrostCommitment: {
    doc: 'a commitment',
    fields: [
      field('id', string, 'id'),
      field('hiding', string, 'hiding commitment'),
      field('binding', string, 'binding commitment'),
    ],
  },
  SparkTransferPackage: {
    doc: 'a transfer',
    fields: [
      field('transfer_id', string, 'transfer id'),
      field('receiver_public_key', string, 'receiver'),
      field('leaves', list(struct('SparkTransferLeaf')), 'leaves that move'),
      field('threshold', int, 'operators that are needed'),
      field('operator_recipients', list(struct('SparkOperatorRecipient')), 'operators'),
    ],
  },
  SparkTransferLeaf: {
    doc: 'a leaf that moves',
    fields: [
      field('leaf_id', string, 'leaf id'),
      defaulted('old_leaf_derivation', struct('SparkKeyDerivation'), {}, 'key before'),
      defaulted('new_leaf_derivation', struct('SparkKeyDerivation'), {}, 'key after'),
      defaulted('refund_signature', string, '', "'' when omitted"),
      defaulted('direct_refund_signature', string, '', "'' when omitted"),
      defaulted('direct_from_cpfp_refund_signature', string, '', "'' when omitted"),
    ],
  },
  SparkOperatorRecipient: {
    doc: 'an operator',
    fields: [
      field('operator_id', string, 'operator id'),
      field('encryption_public_key', string, 'key that its package is encrypted to'),
    ],
  },
  SparkClaimPackage: {
    doc: 'a claim of a transfer',
    fields: [
      field('leaves', list(struct('SparkClaimLeaf')), 'leaves that are claimed'),
      field('threshold', int, 'operators that are needed'),
      field('operator_recipients', list(struct('SparkOperatorRecipient')), 'operators'),
      field('transfer_id', string, 'transfer id'),
      field('sender_identity_public_key', string, 'sender'),
    ],
  },
  SparkClaimLeaf: {
    doc: 'a leaf that is claimed',
    fields: [
      field('leaf_id', string, 'leaf id'),
      field('ciphertext', string, 'ciphertext'),
      field('sender_signature', string, 'signature of the sender'),
    ],
  },
  SparkLightningReceivePackage: {
    doc: 'a Lightning payment to receive',
    fields: [
      field('threshold', int, 'operators that are needed'),
      field('operator_recipients', list(struct('SparkOperatorRecipient')), 'operators'),
    ],
  },
}
