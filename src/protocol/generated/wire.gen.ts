// Generated from src/protocol/data by src/protocol/generate.ts. Do not edit.

import type { Json } from '../json.ts'

export type AccessType =
  | 'ACCESS_TYPE_WEB'
  | 'ACCESS_TYPE_API'
  | 'ACCESS_TYPE_ALL'

export type ActivityStatus =
  | 'ACTIVITY_STATUS_CREATED'
  | 'ACTIVITY_STATUS_PENDING'
  | 'ACTIVITY_STATUS_COMPLETED'
  | 'ACTIVITY_STATUS_FAILED'
  | 'ACTIVITY_STATUS_CONSENSUS_NEEDED'
  | 'ACTIVITY_STATUS_REJECTED'
  | 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED'

export type ActivityType =
  | 'ACTIVITY_TYPE_CREATE_API_KEYS'
  | 'ACTIVITY_TYPE_CREATE_USERS'
  | 'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS'
  | 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD'
  | 'ACTIVITY_TYPE_CREATE_INVITATIONS'
  | 'ACTIVITY_TYPE_ACCEPT_INVITATION'
  | 'ACTIVITY_TYPE_CREATE_POLICY'
  | 'ACTIVITY_TYPE_DISABLE_PRIVATE_KEY'
  | 'ACTIVITY_TYPE_DELETE_USERS'
  | 'ACTIVITY_TYPE_DELETE_API_KEYS'
  | 'ACTIVITY_TYPE_DELETE_INVITATION'
  | 'ACTIVITY_TYPE_DELETE_ORGANIZATION'
  | 'ACTIVITY_TYPE_DELETE_POLICY'
  | 'ACTIVITY_TYPE_CREATE_USER_TAG'
  | 'ACTIVITY_TYPE_DELETE_USER_TAGS'
  | 'ACTIVITY_TYPE_CREATE_ORGANIZATION'
  | 'ACTIVITY_TYPE_SIGN_TRANSACTION'
  | 'ACTIVITY_TYPE_APPROVE_ACTIVITY'
  | 'ACTIVITY_TYPE_REJECT_ACTIVITY'
  | 'ACTIVITY_TYPE_DELETE_AUTHENTICATORS'
  | 'ACTIVITY_TYPE_CREATE_AUTHENTICATORS'
  | 'ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG'
  | 'ACTIVITY_TYPE_DELETE_PRIVATE_KEY_TAGS'
  | 'ACTIVITY_TYPE_SET_PAYMENT_METHOD'
  | 'ACTIVITY_TYPE_ACTIVATE_BILLING_TIER'
  | 'ACTIVITY_TYPE_DELETE_PAYMENT_METHOD'
  | 'ACTIVITY_TYPE_CREATE_POLICY_V2'
  | 'ACTIVITY_TYPE_CREATE_POLICY_V3'
  | 'ACTIVITY_TYPE_CREATE_API_ONLY_USERS'
  | 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM'
  | 'ACTIVITY_TYPE_UPDATE_USER_TAG'
  | 'ACTIVITY_TYPE_UPDATE_PRIVATE_KEY_TAG'
  | 'ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2'
  | 'ACTIVITY_TYPE_CREATE_ORGANIZATION_V2'
  | 'ACTIVITY_TYPE_CREATE_USERS_V2'
  | 'ACTIVITY_TYPE_ACCEPT_INVITATION_V2'
  | 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION'
  | 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V2'
  | 'ACTIVITY_TYPE_UPDATE_ALLOWED_ORIGINS'
  | 'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2'
  | 'ACTIVITY_TYPE_UPDATE_USER'
  | 'ACTIVITY_TYPE_UPDATE_POLICY'
  | 'ACTIVITY_TYPE_SET_PAYMENT_METHOD_V2'
  | 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V3'
  | 'ACTIVITY_TYPE_CREATE_WALLET'
  | 'ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS'
  | 'ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY'
  | 'ACTIVITY_TYPE_RECOVER_USER'
  | 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE'
  | 'ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE'
  | 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'
  | 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2'
  | 'ACTIVITY_TYPE_EXPORT_PRIVATE_KEY'
  | 'ACTIVITY_TYPE_EXPORT_WALLET'
  | 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V4'
  | 'ACTIVITY_TYPE_EMAIL_AUTH'
  | 'ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT'
  | 'ACTIVITY_TYPE_INIT_IMPORT_WALLET'
  | 'ACTIVITY_TYPE_IMPORT_WALLET'
  | 'ACTIVITY_TYPE_INIT_IMPORT_PRIVATE_KEY'
  | 'ACTIVITY_TYPE_IMPORT_PRIVATE_KEY'
  | 'ACTIVITY_TYPE_CREATE_POLICIES'
  | 'ACTIVITY_TYPE_SIGN_RAW_PAYLOADS'
  | 'ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION'
  | 'ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS'
  | 'ACTIVITY_TYPE_DELETE_OAUTH_PROVIDERS'
  | 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V5'
  | 'ACTIVITY_TYPE_OAUTH'
  | 'ACTIVITY_TYPE_CREATE_API_KEYS_V2'
  | 'ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION'
  | 'ACTIVITY_TYPE_EMAIL_AUTH_V2'
  | 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V6'
  | 'ACTIVITY_TYPE_DELETE_PRIVATE_KEYS'
  | 'ACTIVITY_TYPE_DELETE_WALLETS'
  | 'ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2'
  | 'ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION'
  | 'ACTIVITY_TYPE_INIT_OTP_AUTH'
  | 'ACTIVITY_TYPE_OTP_AUTH'
  | 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7'
  | 'ACTIVITY_TYPE_UPDATE_WALLET'
  | 'ACTIVITY_TYPE_UPDATE_POLICY_V2'
  | 'ACTIVITY_TYPE_CREATE_USERS_V3'
  | 'ACTIVITY_TYPE_INIT_OTP_AUTH_V2'
  | 'ACTIVITY_TYPE_INIT_OTP'
  | 'ACTIVITY_TYPE_VERIFY_OTP'
  | 'ACTIVITY_TYPE_OTP_LOGIN'
  | 'ACTIVITY_TYPE_STAMP_LOGIN'
  | 'ACTIVITY_TYPE_OAUTH_LOGIN'
  | 'ACTIVITY_TYPE_UPDATE_USER_NAME'
  | 'ACTIVITY_TYPE_UPDATE_USER_EMAIL'
  | 'ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER'
  | 'ACTIVITY_TYPE_INIT_FIAT_ON_RAMP'
  | 'ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE'
  | 'ACTIVITY_TYPE_DELETE_SMART_CONTRACT_INTERFACE'
  | 'ACTIVITY_TYPE_ENABLE_AUTH_PROXY'
  | 'ACTIVITY_TYPE_DISABLE_AUTH_PROXY'
  | 'ACTIVITY_TYPE_UPDATE_AUTH_PROXY_CONFIG'
  | 'ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL'
  | 'ACTIVITY_TYPE_UPDATE_OAUTH2_CREDENTIAL'
  | 'ACTIVITY_TYPE_DELETE_OAUTH2_CREDENTIAL'
  | 'ACTIVITY_TYPE_OAUTH2_AUTHENTICATE'
  | 'ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS'
  | 'ACTIVITY_TYPE_DELETE_POLICIES'
  | 'ACTIVITY_TYPE_ETH_SEND_RAW_TRANSACTION'
  | 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION'
  | 'ACTIVITY_TYPE_CREATE_FIAT_ON_RAMP_CREDENTIAL'
  | 'ACTIVITY_TYPE_UPDATE_FIAT_ON_RAMP_CREDENTIAL'
  | 'ACTIVITY_TYPE_DELETE_FIAT_ON_RAMP_CREDENTIAL'
  | 'ACTIVITY_TYPE_EMAIL_AUTH_V3'
  | 'ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY_V2'
  | 'ACTIVITY_TYPE_INIT_OTP_AUTH_V3'
  | 'ACTIVITY_TYPE_INIT_OTP_V2'
  | 'ACTIVITY_TYPE_UPSERT_GAS_USAGE_CONFIG'
  | 'ACTIVITY_TYPE_CREATE_TVC_APP'
  | 'ACTIVITY_TYPE_CREATE_TVC_DEPLOYMENT'
  | 'ACTIVITY_TYPE_CREATE_TVC_MANIFEST_APPROVALS'
  | 'ACTIVITY_TYPE_SOL_SEND_TRANSACTION'
  | 'ACTIVITY_TYPE_INIT_OTP_V3'
  | 'ACTIVITY_TYPE_VERIFY_OTP_V2'
  | 'ACTIVITY_TYPE_OTP_LOGIN_V2'
  | 'ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME'
  | 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8'
  | 'ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2'
  | 'ACTIVITY_TYPE_CREATE_USERS_V4'
  | 'ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT'
  | 'ACTIVITY_TYPE_UPDATE_WEBHOOK_ENDPOINT'
  | 'ACTIVITY_TYPE_DELETE_WEBHOOK_ENDPOINT'
  | 'ACTIVITY_TYPE_SET_IP_ALLOWLIST'
  | 'ACTIVITY_TYPE_REMOVE_IP_ALLOWLIST'
  | 'ACTIVITY_TYPE_UPDATE_TVC_APP_LIVE_DEPLOYMENT'
  | 'ACTIVITY_TYPE_DELETE_TVC_DEPLOYMENT'
  | 'ACTIVITY_TYPE_DELETE_TVC_APP_AND_DEPLOYMENTS'
  | 'ACTIVITY_TYPE_RESTORE_TVC_DEPLOYMENT'
  | 'ACTIVITY_TYPE_SPARK_SIGN_FROST'
  | 'ACTIVITY_TYPE_SPARK_PREPARE_TRANSFER'
  | 'ACTIVITY_TYPE_SPARK_CLAIM_TRANSFER'
  | 'ACTIVITY_TYPE_SPARK_PREPARE_LIGHTNING_RECEIVE'
  | 'ACTIVITY_TYPE_POST_TVC_QUORUM_KEY_SHARE'
  | 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION_V2'
  | 'ACTIVITY_TYPE_CREATE_MFA_POLICY'
  | 'ACTIVITY_TYPE_UPDATE_MFA_POLICY'
  | 'ACTIVITY_TYPE_DELETE_MFA_POLICY'
  | 'ACTIVITY_TYPE_CREATE_SESSION_PROFILE'
  | 'ACTIVITY_TYPE_EARN_DEPLOY_WRAPPER'
  | 'ACTIVITY_TYPE_EARN_DEPOSIT'
  | 'ACTIVITY_TYPE_EARN_WITHDRAW'
  | 'ACTIVITY_TYPE_EXECUTE_SWAP'
  | 'ACTIVITY_TYPE_UPSERT_SWAP_CONFIG'
  | 'ACTIVITY_TYPE_CREATE_TVC_OPERATOR'
  | 'ACTIVITY_TYPE_CREATE_TVC_QUORUM_KEY'
  | 'ACTIVITY_TYPE_RE_ENCRYPT_TVC_QUORUM_KEY_SHARE'
  | 'ACTIVITY_TYPE_INIT_IMPORT_SECRETS'
  | 'ACTIVITY_TYPE_SOL_SEND_TRANSACTION_V2'
  | 'ACTIVITY_TYPE_CLAIM_SWAP_FEES'
  | 'ACTIVITY_TYPE_EARN_SET_WRAPPER_STATE'
  | 'ACTIVITY_TYPE_CLAIM_EARN_FEES'
  | 'ACTIVITY_TYPE_UPDATE_WALLET_ACCOUNT_NAME'
  | 'ACTIVITY_TYPE_ETH_UNDELEGATE_7702'
  | 'ACTIVITY_TYPE_EXECUTE_SWAP_V2'
  | 'ACTIVITY_TYPE_CREATE_SWAP_QUOTE'
  | 'ACTIVITY_TYPE_IMPORT_SECRETS'
  | 'ACTIVITY_TYPE_EXPORT_SECRETS'

export type AddressFormat =
  | 'ADDRESS_FORMAT_UNCOMPRESSED'
  | 'ADDRESS_FORMAT_COMPRESSED'
  | 'ADDRESS_FORMAT_ETHEREUM'
  | 'ADDRESS_FORMAT_SOLANA'
  | 'ADDRESS_FORMAT_COSMOS'
  | 'ADDRESS_FORMAT_TRON'
  | 'ADDRESS_FORMAT_SUI'
  | 'ADDRESS_FORMAT_APTOS'
  | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH'
  | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2SH'
  | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH'
  | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WSH'
  | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR'
  | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2PKH'
  | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2SH'
  | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH'
  | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2WSH'
  | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2TR'
  | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2PKH'
  | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2SH'
  | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH'
  | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2WSH'
  | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2TR'
  | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2PKH'
  | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2SH'
  | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH'
  | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2WSH'
  | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2TR'
  | 'ADDRESS_FORMAT_SEI'
  | 'ADDRESS_FORMAT_XLM'
  | 'ADDRESS_FORMAT_DOGE_MAINNET'
  | 'ADDRESS_FORMAT_DOGE_TESTNET'
  | 'ADDRESS_FORMAT_TON_V3R2'
  | 'ADDRESS_FORMAT_TON_V4R2'
  | 'ADDRESS_FORMAT_TON_V5R1'
  | 'ADDRESS_FORMAT_XRP'
  | 'ADDRESS_FORMAT_SPARK_MAINNET'
  | 'ADDRESS_FORMAT_SPARK_REGTEST'

export type ApiKeyCurve =
  | 'API_KEY_CURVE_P256'
  | 'API_KEY_CURVE_SECP256K1'
  | 'API_KEY_CURVE_ED25519'

export type AuthenticationType =
  | 'AUTHENTICATION_TYPE_EMAIL_OTP'
  | 'AUTHENTICATION_TYPE_SMS_OTP'
  | 'AUTHENTICATION_TYPE_PASSKEY'
  | 'AUTHENTICATION_TYPE_API_KEY'
  | 'AUTHENTICATION_TYPE_OAUTH'
  | 'AUTHENTICATION_TYPE_SESSION'

export type AuthenticatorTransport =
  | 'AUTHENTICATOR_TRANSPORT_BLE'
  | 'AUTHENTICATOR_TRANSPORT_INTERNAL'
  | 'AUTHENTICATOR_TRANSPORT_NFC'
  | 'AUTHENTICATOR_TRANSPORT_USB'
  | 'AUTHENTICATOR_TRANSPORT_HYBRID'

export type ClientSignatureScheme =
  | 'CLIENT_SIGNATURE_SCHEME_API_P256'

export type CredentialType =
  | 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR'
  | 'CREDENTIAL_TYPE_API_KEY_P256'
  | 'CREDENTIAL_TYPE_RECOVER_USER_KEY_P256'
  | 'CREDENTIAL_TYPE_API_KEY_SECP256K1'
  | 'CREDENTIAL_TYPE_EMAIL_AUTH_KEY_P256'
  | 'CREDENTIAL_TYPE_API_KEY_ED25519'
  | 'CREDENTIAL_TYPE_OTP_AUTH_KEY_P256'
  | 'CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256'
  | 'CREDENTIAL_TYPE_OAUTH_KEY_P256'
  | 'CREDENTIAL_TYPE_LOGIN'

export type Curve =
  | 'CURVE_SECP256K1'
  | 'CURVE_ED25519'
  | 'CURVE_P256'

export type EarnProvider =
  | 'EARN_PROVIDER_MORPHO'
  | 'EARN_PROVIDER_AAVE'

export type Effect =
  | 'EFFECT_ALLOW'
  | 'EFFECT_DENY'

export type FeatureName =
  | 'FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY'
  | 'FEATURE_NAME_WEBAUTHN_ORIGINS'
  | 'FEATURE_NAME_EMAIL_AUTH'
  | 'FEATURE_NAME_EMAIL_RECOVERY'
  | 'FEATURE_NAME_WEBHOOK'
  | 'FEATURE_NAME_SMS_AUTH'
  | 'FEATURE_NAME_OTP_EMAIL_AUTH'
  | 'FEATURE_NAME_AUTH_PROXY'
  | 'FEATURE_NAME_SOLANA_RENT_PREFUND_ENABLED'
  | 'FEATURE_NAME_SWAP_CONFIG'
  | 'FEATURE_NAME_EARN_CONFIG'
  | 'FEATURE_NAME_POLICY_TIME'

export type FiatOnRampBlockchainNetwork =
  | 'FIAT_ON_RAMP_BLOCKCHAIN_NETWORK_BITCOIN'
  | 'FIAT_ON_RAMP_BLOCKCHAIN_NETWORK_ETHEREUM'
  | 'FIAT_ON_RAMP_BLOCKCHAIN_NETWORK_SOLANA'
  | 'FIAT_ON_RAMP_BLOCKCHAIN_NETWORK_BASE'

export type FiatOnRampCryptoCurrency =
  | 'FIAT_ON_RAMP_CRYPTO_CURRENCY_BTC'
  | 'FIAT_ON_RAMP_CRYPTO_CURRENCY_ETH'
  | 'FIAT_ON_RAMP_CRYPTO_CURRENCY_SOL'
  | 'FIAT_ON_RAMP_CRYPTO_CURRENCY_USDC'

export type FiatOnRampCurrency =
  | 'FIAT_ON_RAMP_CURRENCY_AUD'
  | 'FIAT_ON_RAMP_CURRENCY_BGN'
  | 'FIAT_ON_RAMP_CURRENCY_BRL'
  | 'FIAT_ON_RAMP_CURRENCY_CAD'
  | 'FIAT_ON_RAMP_CURRENCY_CHF'
  | 'FIAT_ON_RAMP_CURRENCY_COP'
  | 'FIAT_ON_RAMP_CURRENCY_CZK'
  | 'FIAT_ON_RAMP_CURRENCY_DKK'
  | 'FIAT_ON_RAMP_CURRENCY_DOP'
  | 'FIAT_ON_RAMP_CURRENCY_EGP'
  | 'FIAT_ON_RAMP_CURRENCY_EUR'
  | 'FIAT_ON_RAMP_CURRENCY_GBP'
  | 'FIAT_ON_RAMP_CURRENCY_HKD'
  | 'FIAT_ON_RAMP_CURRENCY_IDR'
  | 'FIAT_ON_RAMP_CURRENCY_ILS'
  | 'FIAT_ON_RAMP_CURRENCY_JOD'
  | 'FIAT_ON_RAMP_CURRENCY_KES'
  | 'FIAT_ON_RAMP_CURRENCY_KWD'
  | 'FIAT_ON_RAMP_CURRENCY_LKR'
  | 'FIAT_ON_RAMP_CURRENCY_MXN'
  | 'FIAT_ON_RAMP_CURRENCY_NGN'
  | 'FIAT_ON_RAMP_CURRENCY_NOK'
  | 'FIAT_ON_RAMP_CURRENCY_NZD'
  | 'FIAT_ON_RAMP_CURRENCY_OMR'
  | 'FIAT_ON_RAMP_CURRENCY_PEN'
  | 'FIAT_ON_RAMP_CURRENCY_PLN'
  | 'FIAT_ON_RAMP_CURRENCY_RON'
  | 'FIAT_ON_RAMP_CURRENCY_SEK'
  | 'FIAT_ON_RAMP_CURRENCY_THB'
  | 'FIAT_ON_RAMP_CURRENCY_TRY'
  | 'FIAT_ON_RAMP_CURRENCY_TWD'
  | 'FIAT_ON_RAMP_CURRENCY_USD'
  | 'FIAT_ON_RAMP_CURRENCY_VND'
  | 'FIAT_ON_RAMP_CURRENCY_ZAR'

export type FiatOnRampPaymentMethod =
  | 'FIAT_ON_RAMP_PAYMENT_METHOD_CREDIT_DEBIT_CARD'
  | 'FIAT_ON_RAMP_PAYMENT_METHOD_APPLE_PAY'
  | 'FIAT_ON_RAMP_PAYMENT_METHOD_GBP_BANK_TRANSFER'
  | 'FIAT_ON_RAMP_PAYMENT_METHOD_GBP_OPEN_BANKING_PAYMENT'
  | 'FIAT_ON_RAMP_PAYMENT_METHOD_GOOGLE_PAY'
  | 'FIAT_ON_RAMP_PAYMENT_METHOD_SEPA_BANK_TRANSFER'
  | 'FIAT_ON_RAMP_PAYMENT_METHOD_PIX_INSTANT_PAYMENT'
  | 'FIAT_ON_RAMP_PAYMENT_METHOD_PAYPAL'
  | 'FIAT_ON_RAMP_PAYMENT_METHOD_VENMO'
  | 'FIAT_ON_RAMP_PAYMENT_METHOD_MOONPAY_BALANCE'
  | 'FIAT_ON_RAMP_PAYMENT_METHOD_CRYPTO_ACCOUNT'
  | 'FIAT_ON_RAMP_PAYMENT_METHOD_FIAT_WALLET'
  | 'FIAT_ON_RAMP_PAYMENT_METHOD_ACH_BANK_ACCOUNT'

export type FiatOnRampProvider =
  | 'FIAT_ON_RAMP_PROVIDER_COINBASE'
  | 'FIAT_ON_RAMP_PROVIDER_MOONPAY'

export type HashFunction =
  | 'HASH_FUNCTION_NO_OP'
  | 'HASH_FUNCTION_SHA256'
  | 'HASH_FUNCTION_KECCAK256'
  | 'HASH_FUNCTION_NOT_APPLICABLE'

export type MnemonicLanguage =
  | 'MNEMONIC_LANGUAGE_ENGLISH'
  | 'MNEMONIC_LANGUAGE_SIMPLIFIED_CHINESE'
  | 'MNEMONIC_LANGUAGE_TRADITIONAL_CHINESE'
  | 'MNEMONIC_LANGUAGE_CZECH'
  | 'MNEMONIC_LANGUAGE_FRENCH'
  | 'MNEMONIC_LANGUAGE_ITALIAN'
  | 'MNEMONIC_LANGUAGE_JAPANESE'
  | 'MNEMONIC_LANGUAGE_KOREAN'
  | 'MNEMONIC_LANGUAGE_SPANISH'

export type Oauth2Provider =
  | 'OAUTH2_PROVIDER_X'
  | 'OAUTH2_PROVIDER_DISCORD'

export type Operator =
  | 'OPERATOR_EQUAL'
  | 'OPERATOR_MORE_THAN'
  | 'OPERATOR_MORE_THAN_OR_EQUAL'
  | 'OPERATOR_LESS_THAN'
  | 'OPERATOR_LESS_THAN_OR_EQUAL'
  | 'OPERATOR_CONTAINS'
  | 'OPERATOR_NOT_EQUAL'
  | 'OPERATOR_IN'
  | 'OPERATOR_NOT_IN'
  | 'OPERATOR_CONTAINS_ONE'
  | 'OPERATOR_CONTAINS_ALL'

export type PathFormat =
  | 'PATH_FORMAT_BIP32'

export type PayloadEncoding =
  | 'PAYLOAD_ENCODING_HEXADECIMAL'
  | 'PAYLOAD_ENCODING_TEXT_UTF8'
  | 'PAYLOAD_ENCODING_EIP712'
  | 'PAYLOAD_ENCODING_EIP7702_AUTHORIZATION'

export type SmartContractInterfaceType =
  | 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM'
  | 'SMART_CONTRACT_INTERFACE_TYPE_SOLANA'

export type TransactionType =
  | 'TRANSACTION_TYPE_ETHEREUM'
  | 'TRANSACTION_TYPE_SOLANA'
  | 'TRANSACTION_TYPE_TRON'
  | 'TRANSACTION_TYPE_BITCOIN'
  | 'TRANSACTION_TYPE_TEMPO'

export type TransportEncryptionSuite =
  | 'TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1'

export type TvcHealthCheckType =
  | 'TVC_HEALTH_CHECK_TYPE_HTTP'
  | 'TVC_HEALTH_CHECK_TYPE_GRPC'

export type SignatureScheme =
  | 'SIGNATURE_SCHEME_EPHEMERAL_KEY_P256'

export type TagType =
  | 'TAG_TYPE_USER'
  | 'TAG_TYPE_PRIVATE_KEY'

export type Outcome =
  | 'OUTCOME_ALLOW'
  | 'OUTCOME_DENY_EXPLICIT'
  | 'OUTCOME_DENY_IMPLICIT'
  | 'OUTCOME_REQUIRES_CONSENSUS'
  | 'OUTCOME_REJECTED'
  | 'OUTCOME_ERROR'
  | 'OUTCOME_REQUIRES_AUTHENTICATORS'
  | 'OUTCOME_TIME_INACTIVE'

export type InvitationStatus =
  | 'INVITATION_STATUS_CREATED'
  | 'INVITATION_STATUS_ACCEPTED'
  | 'INVITATION_STATUS_REVOKED'

export type AcceptInvitationIntent = {
  readonly invitationId: string
  readonly userId: string
  readonly authenticator: AuthenticatorParams
}

export type AcceptInvitationIntentV2 = {
  readonly invitationId: string
  readonly userId: string
  readonly authenticator: AuthenticatorParamsV2
}

export type AcceptInvitationResult = {
  readonly invitationId: string
  readonly userId: string
}

export type ActivateBillingTierIntent = {
  readonly productId: string
  readonly orbPlanId?: string
}

export type ActivateBillingTierResult = {
  readonly productId: string
}

export type Activity = {
  readonly id: string
  readonly organizationId: string
  readonly status: ActivityStatus
  readonly type: ActivityType
  readonly intent: Intent
  readonly result: Result
  readonly votes: readonly Vote[]
  readonly appProofs?: readonly AppProof[]
  readonly fingerprint: string
  readonly canApprove: boolean
  readonly canReject: boolean
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
  readonly failure?: Status
}

export type ActivityResponse = {
  readonly activity: Activity
}

export type Any = { readonly '@type'?: string; readonly [member: string]: Json }

export type ApiKey = {
  readonly credential: Credential
  readonly apiKeyId: string
  readonly apiKeyName: string
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
  readonly expirationSeconds?: string
}

export type ApiKeyParams = {
  readonly apiKeyName: string
  readonly publicKey: string
  readonly expirationSeconds?: string
}

export type ApiKeyParamsV2 = {
  readonly apiKeyName: string
  readonly publicKey: string
  readonly curveType: ApiKeyCurve
  readonly expirationSeconds?: string
}

export type ApiOnlyUserParams = {
  readonly userName: string
  readonly userEmail?: string
  readonly userTags: readonly string[]
  readonly apiKeys: readonly ApiKeyParams[]
}

export type AppProof = {
  readonly scheme: SignatureScheme
  readonly publicKey: string
  readonly proofPayload: string
  readonly signature: string
}

export type AppStatus = {
  readonly appId: string
  readonly deployments: readonly DeploymentStatus[]
  readonly targetedDeploymentId: string
}

export type ApproveActivityIntent = {
  readonly fingerprint: string
}

export type AssetBalance = {
  readonly caip19?: string
  readonly symbol?: string
  readonly balance?: string
  readonly decimals?: number
  readonly display?: AssetBalanceDisplay
  readonly name?: string
}

export type AssetBalanceDisplay = {
  readonly usd?: string
  readonly crypto?: string
}

export type AssetMetadata = {
  readonly caip19?: string
  readonly symbol?: string
  readonly decimals?: number
  readonly logoUrl?: string
  readonly name?: string
  readonly stable?: boolean
}

export type Attestation = {
  readonly credentialId: string
  readonly clientDataJson: string
  readonly attestationObject: string
  readonly transports: readonly AuthenticatorTransport[]
}

export type AuthenticationMethod = {
  readonly type: AuthenticationType
  readonly id?: string
}

export type AuthenticationMethodParams = {
  readonly type: AuthenticationType
  readonly id?: string
}

export type Authenticator = {
  readonly transports: readonly AuthenticatorTransport[]
  readonly attestationType: string
  readonly aaguid: string
  readonly credentialId: string
  readonly model: string
  readonly credential: Credential
  readonly authenticatorId: string
  readonly authenticatorName: string
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
}

export type AuthenticatorAttestationResponse = {
  readonly clientDataJson: string
  readonly attestationObject: string
  readonly transports?: readonly AuthenticatorTransport[]
  readonly authenticatorAttachment?: 'cross-platform' | 'platform'
}

export type AuthenticatorParams = {
  readonly authenticatorName: string
  readonly userId: string
  readonly attestation: PublicKeyCredentialWithAttestation
  readonly challenge: string
}

export type AuthenticatorParamsV2 = {
  readonly authenticatorName: string
  readonly challenge: string
  readonly attestation: Attestation
}

export type BootProof = {
  readonly ephemeralPublicKeyHex: string
  readonly awsAttestationDocB64: string
  readonly qosManifestB64: string
  readonly qosManifestEnvelopeB64: string
  readonly deploymentLabel: string
  readonly enclaveApp: string
  readonly owner: string
  readonly createdAt: Timestamp
  readonly qosManifestVersion?: string
}

export type BootProofResponse = {
  readonly bootProof: BootProof
}

export type ClaimEarnFeesIntent = {
  readonly wrapperAddress: string
}

export type ClaimEarnFeesResult = {
  readonly claimRequestId: string
}

export type ClaimSwapFeesIntent = { readonly [member: string]: never }

export type ClaimSwapFeesResult = {
  readonly requestId: string
}

export type ClientSignature = {
  readonly publicKey: string
  readonly scheme: ClientSignatureScheme
  readonly message: string
  readonly signature: string
}

export type Config = {
  readonly features?: readonly Feature[]
  readonly quorum?: Quorum
}

export type CreateApiKeysIntent = {
  readonly apiKeys: readonly ApiKeyParams[]
  readonly userId: string
}

export type CreateApiKeysIntentV2 = {
  readonly apiKeys: readonly ApiKeyParamsV2[]
  readonly userId: string
}

export type CreateApiKeysResult = {
  readonly apiKeyIds: readonly string[]
}

export type CreateApiOnlyUsersIntent = {
  readonly apiOnlyUsers: readonly ApiOnlyUserParams[]
}

export type CreateApiOnlyUsersResult = {
  readonly userIds: readonly string[]
}

export type CreateAuthenticatorsIntent = {
  readonly authenticators: readonly AuthenticatorParams[]
  readonly userId: string
}

export type CreateAuthenticatorsIntentV2 = {
  readonly authenticators: readonly AuthenticatorParamsV2[]
  readonly userId: string
}

export type CreateAuthenticatorsResult = {
  readonly authenticatorIds: readonly string[]
}

export type CreateFiatOnRampCredentialIntent = {
  readonly onrampProvider: FiatOnRampProvider
  readonly projectId?: string
  readonly publishableApiKey: string
  readonly encryptedSecretApiKey: string
  readonly encryptedPrivateApiKey?: string
  readonly sandboxMode?: boolean
}

export type CreateFiatOnRampCredentialResult = {
  readonly fiatOnRampCredentialId: string
}

export type CreateInvitationsIntent = {
  readonly invitations: readonly InvitationParams[]
}

export type CreateInvitationsResult = {
  readonly invitationIds: readonly string[]
}

export type CreateMfaPolicyIntent = {
  readonly userId: string
  readonly mfaPolicyName: string
  readonly condition: string
  readonly requiredAuthenticationMethods: readonly RequiredAuthenticationMethodParams[]
  readonly order: number
  readonly notes?: string
}

export type CreateMfaPolicyResult = {
  readonly mfaPolicyId: string
}

export type CreateOauth2CredentialIntent = {
  readonly provider: Oauth2Provider
  readonly clientId: string
  readonly encryptedClientSecret: string
}

export type CreateOauth2CredentialResult = {
  readonly oauth2CredentialId: string
}

export type CreateOauthProvidersIntent = {
  readonly userId: string
  readonly oauthProviders: readonly OauthProviderParams[]
}

export type CreateOauthProvidersIntentV2 = {
  readonly userId: string
  readonly oauthProviders: readonly OauthProviderParamsV2[]
}

export type CreateOauthProvidersResult = {
  readonly providerIds: readonly string[]
}

export type CreateOauthProvidersResultV2 = {
  readonly providerIds: readonly string[]
}

export type CreateOrganizationIntent = {
  readonly organizationName: string
  readonly rootEmail: string
  readonly rootAuthenticator: AuthenticatorParams
  readonly rootUserId?: string
}

export type CreateOrganizationIntentV2 = {
  readonly organizationName: string
  readonly rootEmail: string
  readonly rootAuthenticator: AuthenticatorParamsV2
  readonly rootUserId?: string
}

export type CreateOrganizationResult = {
  readonly organizationId: string
}

export type CreatePoliciesIntent = {
  readonly policies: readonly CreatePolicyIntentV3[]
}

export type CreatePoliciesResult = {
  readonly policyIds: readonly string[]
}

export type CreatePolicyIntent = {
  readonly policyName: string
  readonly selectors: readonly Selector[]
  readonly effect: Effect
  readonly notes?: string
}

export type CreatePolicyIntentV2 = {
  readonly policyName: string
  readonly selectors: readonly SelectorV2[]
  readonly effect: Effect
  readonly notes?: string
}

export type CreatePolicyIntentV3 = {
  readonly policyName: string
  readonly effect: Effect
  readonly condition?: string
  readonly consensus?: string
  readonly notes?: string
  readonly time?: string
}

export type CreatePolicyResult = {
  readonly policyId: string
}

export type CreatePrivateKeyTagIntent = {
  readonly privateKeyTagName: string
  readonly privateKeyIds: readonly string[]
}

export type CreatePrivateKeyTagResult = {
  readonly privateKeyTagId: string
  readonly privateKeyIds: readonly string[]
}

export type CreatePrivateKeysIntent = {
  readonly privateKeys: readonly PrivateKeyParams[]
}

export type CreatePrivateKeysIntentV2 = {
  readonly privateKeys: readonly PrivateKeyParams[]
}

export type CreatePrivateKeysResult = {
  readonly privateKeyIds: readonly string[]
}

export type CreatePrivateKeysResultV2 = {
  readonly privateKeys: readonly PrivateKeyResult[]
}

export type CreateReadOnlySessionIntent = { readonly [member: string]: never }

export type CreateReadOnlySessionResult = {
  readonly organizationId: string
  readonly organizationName: string
  readonly userId: string
  readonly username: string
  readonly session: string
  readonly sessionExpiry: string
}

export type CreateReadWriteSessionIntent = {
  readonly targetPublicKey: string
  readonly email: string
  readonly apiKeyName?: string
  readonly expirationSeconds?: string
}

export type CreateReadWriteSessionIntentV2 = {
  readonly targetPublicKey: string
  readonly userId?: string
  readonly apiKeyName?: string
  readonly expirationSeconds?: string
  readonly invalidateExisting?: boolean
}

export type CreateReadWriteSessionResult = {
  readonly organizationId: string
  readonly organizationName: string
  readonly userId: string
  readonly username: string
  readonly apiKeyId: string
  readonly credentialBundle: string
}

export type CreateReadWriteSessionResultV2 = {
  readonly organizationId: string
  readonly organizationName: string
  readonly userId: string
  readonly username: string
  readonly apiKeyId: string
  readonly credentialBundle: string
}

export type CreateSessionProfileIntent = {
  readonly sessionProfileName: string
  readonly scope: string
  readonly expirationSeconds?: string
  readonly notes?: string
}

export type CreateSessionProfileResult = {
  readonly sessionProfileId: string
}

export type CreateSmartContractInterfaceIntent = {
  readonly smartContractAddress: string
  readonly smartContractInterface: string
  readonly type: SmartContractInterfaceType
  readonly label: string
  readonly notes?: string
}

export type CreateSmartContractInterfaceResult = {
  readonly smartContractInterfaceId: string
}

export type CreateSubOrganizationIntent = {
  readonly name?: string
  readonly rootAuthenticator: AuthenticatorParamsV2
}

export type CreateSubOrganizationIntentV2 = {
  readonly subOrganizationName?: string
  readonly rootUsers: readonly RootUserParams[]
  readonly rootQuorumThreshold: number
}

export type CreateSubOrganizationIntentV3 = {
  readonly subOrganizationName?: string
  readonly rootUsers: readonly RootUserParams[]
  readonly rootQuorumThreshold: number
  readonly privateKeys: readonly PrivateKeyParams[]
}

export type CreateSubOrganizationIntentV4 = {
  readonly subOrganizationName?: string
  readonly rootUsers: readonly RootUserParams[]
  readonly rootQuorumThreshold: number
  readonly wallet?: WalletParams
  readonly disableEmailRecovery?: boolean
  readonly disableEmailAuth?: boolean
}

export type CreateSubOrganizationIntentV5 = {
  readonly subOrganizationName?: string
  readonly rootUsers: readonly RootUserParamsV2[]
  readonly rootQuorumThreshold: number
  readonly wallet?: WalletParams
  readonly disableEmailRecovery?: boolean
  readonly disableEmailAuth?: boolean
}

export type CreateSubOrganizationIntentV6 = {
  readonly subOrganizationName?: string
  readonly rootUsers: readonly RootUserParamsV3[]
  readonly rootQuorumThreshold: number
  readonly wallet?: WalletParams
  readonly disableEmailRecovery?: boolean
  readonly disableEmailAuth?: boolean
}

export type CreateSubOrganizationIntentV7 = {
  readonly subOrganizationName?: string
  readonly rootUsers: readonly RootUserParamsV4[]
  readonly rootQuorumThreshold: number
  readonly wallet?: WalletParams
  readonly disableEmailRecovery?: boolean
  readonly disableEmailAuth?: boolean
  readonly disableSmsAuth?: boolean
  readonly disableOtpEmailAuth?: boolean
  readonly verificationToken?: string
  readonly clientSignature?: ClientSignature
}

export type CreateSubOrganizationIntentV8 = {
  readonly subOrganizationName?: string
  readonly rootUsers: readonly RootUserParamsV5[]
  readonly rootQuorumThreshold: number
  readonly wallet?: WalletParams
  readonly disableEmailRecovery?: boolean
  readonly disableEmailAuth?: boolean
  readonly disableSmsAuth?: boolean
  readonly disableOtpEmailAuth?: boolean
  readonly verificationToken?: string
  readonly clientSignature?: ClientSignature
}

export type CreateSubOrganizationResult = {
  readonly subOrganizationId: string
  readonly rootUserIds?: readonly string[]
}

export type CreateSubOrganizationResultV3 = {
  readonly subOrganizationId: string
  readonly privateKeys: readonly PrivateKeyResult[]
  readonly rootUserIds?: readonly string[]
}

export type CreateSubOrganizationResultV4 = {
  readonly subOrganizationId: string
  readonly wallet?: WalletResult
  readonly rootUserIds?: readonly string[]
}

export type CreateSubOrganizationResultV5 = {
  readonly subOrganizationId: string
  readonly wallet?: WalletResult
  readonly rootUserIds?: readonly string[]
}

export type CreateSubOrganizationResultV6 = {
  readonly subOrganizationId: string
  readonly wallet?: WalletResult
  readonly rootUserIds?: readonly string[]
}

export type CreateSubOrganizationResultV7 = {
  readonly subOrganizationId: string
  readonly wallet?: WalletResult
  readonly rootUserIds?: readonly string[]
}

export type CreateSubOrganizationResultV8 = {
  readonly subOrganizationId: string
  readonly wallet?: WalletResult
  readonly rootUserIds?: readonly string[]
}

export type CreateSwapQuoteIntent = {
  readonly signWith: string
  readonly inputToken: string
  readonly outputToken: string
  readonly inputAmount: string
  readonly slippageBps?: string
}

export type CreateSwapQuoteResult = {
  readonly quotes: readonly SwapQuote[]
}

export type CreateTvcAppIntent = {
  readonly name: string
  readonly quorumPublicKey: string
  readonly manifestSetId?: string
  readonly manifestSetParams?: TvcOperatorSetParams
  readonly shareSetId?: string
  readonly shareSetParams?: TvcOperatorSetParams
  readonly enableEgress?: boolean
  readonly enableDebugModeDeployments?: boolean
}

export type CreateTvcAppResult = {
  readonly appId: string
  readonly manifestSetId: string
  readonly manifestSetOperatorIds: readonly string[]
  readonly manifestSetThreshold: number
  readonly shareSetId: string
  readonly shareSetOperatorIds: readonly string[]
  readonly shareSetThreshold: number
}

export type CreateTvcDeploymentIntent = {
  readonly appId: string
  readonly qosVersion: string
  readonly pivotContainerImageUrl: string
  readonly pivotPath: string
  readonly pivotArgs: readonly string[]
  readonly expectedPivotDigest: string
  readonly nonce?: number
  readonly pivotContainerEncryptedPullSecret?: string
  readonly debugMode?: boolean
  readonly healthCheckType: TvcHealthCheckType
  readonly healthCheckPort: number
  readonly publicIngressPort: number
  readonly replicas?: number
}

export type CreateTvcDeploymentResult = {
  readonly deploymentId: string
  readonly manifestId: string
}

export type CreateTvcManifestApprovalsIntent = {
  readonly manifestId: string
  readonly approvals: readonly TvcManifestApproval[]
}

export type CreateTvcManifestApprovalsResult = {
  readonly approvalIds: readonly string[]
}

export type CreateTvcOperatorIntent = {
  readonly walletName?: string
  readonly walletId?: string
  readonly path: string
  readonly operatorName: string
}

export type CreateTvcOperatorResult = {
  readonly walletId: string
  readonly operatorId: string
  readonly encryptPublicKey: string
  readonly signPublicKey: string
}

export type CreateTvcQuorumKeyIntent = {
  readonly threshold: number
  readonly operatorEncryptKeys: readonly string[]
}

export type CreateTvcQuorumKeyResult = {
  readonly quorumKeyId: string
  readonly quorumPublicKey: string
  readonly shareIds: readonly string[]
}

export type CreateUserTagIntent = {
  readonly userTagName: string
  readonly userIds: readonly string[]
}

export type CreateUserTagResult = {
  readonly userTagId: string
  readonly userIds: readonly string[]
}

export type CreateUsersIntent = {
  readonly users: readonly UserParams[]
}

export type CreateUsersIntentV2 = {
  readonly users: readonly UserParamsV2[]
}

export type CreateUsersIntentV3 = {
  readonly users: readonly UserParamsV3[]
}

export type CreateUsersIntentV4 = {
  readonly users: readonly UserParamsV4[]
}

export type CreateUsersResult = {
  readonly userIds: readonly string[]
}

export type CreateWalletAccountsIntent = {
  readonly walletId: string
  readonly accounts: readonly WalletAccountParams[]
  readonly persist?: boolean
}

export type CreateWalletAccountsResult = {
  readonly addresses: readonly string[]
}

export type CreateWalletIntent = {
  readonly walletName: string
  readonly accounts: readonly WalletAccountParams[]
  readonly mnemonicLength?: number
}

export type CreateWalletResult = {
  readonly walletId: string
  readonly addresses: readonly string[]
}

export type CreateWebhookEndpointIntent = {
  readonly url: string
  readonly name: string
  readonly subscriptions?: readonly WebhookSubscriptionParams[]
}

export type CreateWebhookEndpointResult = {
  readonly endpointId: string
  readonly webhookEndpoint: WebhookEndpointData
}

export type CredPropsAuthenticationExtensionsClientOutputs = {
  readonly rk: boolean
}

export type Credential = {
  readonly publicKey: string
  readonly type: CredentialType
  readonly sessionProfileId?: string
}

export type CustomRevertError = {
  readonly errorName?: string
  readonly paramsJson?: string
}

export type DeleteApiKeysIntent = {
  readonly userId: string
  readonly apiKeyIds: readonly string[]
}

export type DeleteApiKeysResult = {
  readonly apiKeyIds: readonly string[]
}

export type DeleteAuthenticatorsIntent = {
  readonly userId: string
  readonly authenticatorIds: readonly string[]
}

export type DeleteAuthenticatorsResult = {
  readonly authenticatorIds: readonly string[]
}

export type DeleteFiatOnRampCredentialIntent = {
  readonly fiatOnrampCredentialId: string
}

export type DeleteFiatOnRampCredentialResult = {
  readonly fiatOnRampCredentialId: string
}

export type DeleteInvitationIntent = {
  readonly invitationId: string
}

export type DeleteInvitationResult = {
  readonly invitationId: string
}

export type DeleteMfaPolicyIntent = {
  readonly userId: string
  readonly mfaPolicyId: string
}

export type DeleteMfaPolicyResult = {
  readonly mfaPolicyId: string
}

export type DeleteOauth2CredentialIntent = {
  readonly oauth2CredentialId: string
}

export type DeleteOauth2CredentialResult = {
  readonly oauth2CredentialId: string
}

export type DeleteOauthProvidersIntent = {
  readonly userId: string
  readonly providerIds: readonly string[]
}

export type DeleteOauthProvidersResult = {
  readonly providerIds: readonly string[]
}

export type DeleteOrganizationIntent = {
  readonly organizationId: string
}

export type DeleteOrganizationResult = {
  readonly organizationId: string
}

export type DeletePaymentMethodIntent = {
  readonly paymentMethodId: string
}

export type DeletePaymentMethodResult = {
  readonly paymentMethodId: string
}

export type DeletePoliciesIntent = {
  readonly policyIds: readonly string[]
}

export type DeletePoliciesResult = {
  readonly policyIds: readonly string[]
}

export type DeletePolicyIntent = {
  readonly policyId: string
}

export type DeletePolicyResult = {
  readonly policyId: string
}

export type DeletePrivateKeyTagsIntent = {
  readonly privateKeyTagIds: readonly string[]
}

export type DeletePrivateKeyTagsResult = {
  readonly privateKeyTagIds: readonly string[]
  readonly privateKeyIds: readonly string[]
}

export type DeletePrivateKeysIntent = {
  readonly privateKeyIds: readonly string[]
  readonly deleteWithoutExport?: boolean
}

export type DeletePrivateKeysResult = {
  readonly privateKeyIds: readonly string[]
}

export type DeleteSmartContractInterfaceIntent = {
  readonly smartContractInterfaceId: string
}

export type DeleteSmartContractInterfaceResult = {
  readonly smartContractInterfaceId: string
}

export type DeleteSubOrganizationIntent = {
  readonly deleteWithoutExport?: boolean
}

export type DeleteSubOrganizationResult = {
  readonly subOrganizationUuid: string
}

export type DeleteTvcAppAndDeploymentsIntent = {
  readonly appId: string
}

export type DeleteTvcAppAndDeploymentsResult = {
  readonly appId: string
}

export type DeleteTvcDeploymentIntent = {
  readonly deploymentId: string
}

export type DeleteTvcDeploymentResult = {
  readonly deploymentId: string
}

export type DeleteUserTagsIntent = {
  readonly userTagIds: readonly string[]
}

export type DeleteUserTagsResult = {
  readonly userTagIds: readonly string[]
  readonly userIds: readonly string[]
}

export type DeleteUsersIntent = {
  readonly userIds: readonly string[]
}

export type DeleteUsersResult = {
  readonly userIds: readonly string[]
}

export type DeleteWalletAccountsIntent = {
  readonly walletAccountIds: readonly string[]
  readonly deleteWithoutExport?: boolean
}

export type DeleteWalletAccountsResult = {
  readonly walletAccountIds: readonly string[]
}

export type DeleteWalletsIntent = {
  readonly walletIds: readonly string[]
  readonly deleteWithoutExport?: boolean
}

export type DeleteWalletsResult = {
  readonly walletIds: readonly string[]
}

export type DeleteWebhookEndpointIntent = {
  readonly endpointId: string
}

export type DeleteWebhookEndpointResult = {
  readonly endpointId: string
}

export type DeploymentStatus = {
  readonly deploymentId: string
  readonly readyReplicas: number
  readonly desiredReplicas: number
  readonly lastUpdatedTime: Timestamp
}

export type DisableAuthProxyIntent = { readonly [member: string]: never }

export type DisableAuthProxyResult = { readonly [member: string]: never }

export type DisablePrivateKeyIntent = {
  readonly privateKeyId: string
}

export type DisablePrivateKeyResult = {
  readonly privateKeyId: string
}

export type EarnDeployWrapperIntent = {
  readonly vaultAddress: string
  readonly chainCaip2: 'eip155:1' | 'eip155:8453' | 'eip155:42161' | 'eip155:137' | 'eip155:56' | 'eip155:4217'
  readonly clientFeeBps: string
  readonly clientFeeWallet: string
}

export type EarnDeployWrapperResult = {
  readonly wrapperAddress: string
  readonly splitterAddress: string
  readonly deployRequestId: string
}

export type EarnDepositIntent = {
  readonly wrapperAddress: string
  readonly signWith: string
  readonly assets: string
  readonly chainCaip2: 'eip155:1' | 'eip155:8453' | 'eip155:42161' | 'eip155:137' | 'eip155:56' | 'eip155:4217'
  readonly sponsor?: boolean
}

export type EarnDepositResult = {
  readonly depositRequestId: string
}

export type EarnEnabledVault = {
  readonly vaultAddress?: string
  readonly wrapperAddress?: string
  readonly provider?: EarnProvider
  readonly caip19?: string
  readonly apyPct?: string
  readonly totalDeposited?: string
  readonly display?: EarnValueDisplay
  readonly netApyPct?: string
  readonly clientFeeBps?: string
  readonly depositsDisabled?: boolean
  readonly name?: string
  readonly curator?: string
  readonly claimableClientFee?: string
  readonly claimableClientFeeDisplay?: EarnValueDisplay
  readonly clientFeeWallet?: string
}

export type EarnPosition = {
  readonly vaultAddress?: string
  readonly wrapperAddress?: string
  readonly provider?: EarnProvider
  readonly caip19?: string
  readonly currentValue?: string
  readonly totalDeposited?: string
  readonly totalWithdrawn?: string
  readonly display?: EarnPositionDisplay
  readonly depositsDisabled?: boolean
}

export type EarnPositionDisplay = {
  readonly currentValueUsd?: string
  readonly totalDepositedUsd?: string
  readonly totalWithdrawnUsd?: string
  readonly currentValueCrypto?: string
  readonly totalDepositedCrypto?: string
  readonly totalWithdrawnCrypto?: string
}

export type EarnSetWrapperStateIntent = {
  readonly wrapperAddress: string
  readonly depositsDisabled: boolean
}

export type EarnSetWrapperStateResult = {
  readonly wrapperAddress: string
  readonly depositsDisabled: boolean
}

export type EarnValueDisplay = {
  readonly usd?: string
  readonly crypto?: string
}

export type EarnVault = {
  readonly vaultAddress?: string
  readonly provider?: EarnProvider
  readonly caip19?: string
  readonly tvl?: string
  readonly apyPct?: string
  readonly enabled?: boolean
  readonly display?: EarnValueDisplay
  readonly name?: string
  readonly curator?: string
}

export type EarnWithdrawIntent = {
  readonly wrapperAddress: string
  readonly signWith: string
  readonly chainCaip2: 'eip155:1' | 'eip155:8453' | 'eip155:42161' | 'eip155:137' | 'eip155:56' | 'eip155:4217'
  readonly sponsor?: boolean
  readonly amountValue: string
}

export type EarnWithdrawResult = {
  readonly withdrawRequestId: string
}

export type EmailAuthCustomizationParams = {
  readonly appName: string
  readonly logoUrl?: string
  readonly magicLinkTemplate?: string
  readonly templateVariables?: string
  readonly templateId?: string
}

export type EmailAuthIntent = {
  readonly email: string
  readonly targetPublicKey: string
  readonly apiKeyName?: string
  readonly expirationSeconds?: string
  readonly emailCustomization?: EmailCustomizationParams
  readonly invalidateExisting?: boolean
  readonly sendFromEmailAddress?: string
  readonly sendFromEmailSenderName?: string
  readonly replyToEmailAddress?: string
}

export type EmailAuthIntentV2 = {
  readonly email: string
  readonly targetPublicKey: string
  readonly apiKeyName?: string
  readonly expirationSeconds?: string
  readonly emailCustomization?: EmailCustomizationParams
  readonly invalidateExisting?: boolean
  readonly sendFromEmailAddress?: string
  readonly sendFromEmailSenderName?: string
  readonly replyToEmailAddress?: string
}

export type EmailAuthIntentV3 = {
  readonly email: string
  readonly targetPublicKey: string
  readonly apiKeyName?: string
  readonly expirationSeconds?: string
  readonly emailCustomization: EmailAuthCustomizationParams
  readonly invalidateExisting?: boolean
  readonly sendFromEmailAddress?: string
  readonly sendFromEmailSenderName?: string
  readonly replyToEmailAddress?: string
}

export type EmailAuthResult = {
  readonly userId: string
  readonly apiKeyId: string
}

export type EmailCustomizationParams = {
  readonly appName?: string
  readonly logoUrl?: string
  readonly magicLinkTemplate?: string
  readonly templateVariables?: string
  readonly templateId?: string
}

export type EmailCustomizationParamsV2 = {
  readonly logoUrl?: string
  readonly magicLinkTemplate?: string
  readonly templateVariables?: string
  readonly templateId?: string
}

export type EmailEvent = {
  readonly id: string
  readonly organizationId: string
  readonly messageId: string
  readonly eventType: string
  readonly fromAddress: string
  readonly toAddress: string
  readonly senderTenant?: string
  readonly timestamp: string
  readonly createdAt: string
  readonly details: EmailEventDetails
}

export type EmailEventDetails = {
  readonly bounceType?: string
  readonly bounceSubType?: string
  readonly diagnosticCode?: string
  readonly deliverySmtpResponse?: string
  readonly deliveryProcessingTimeMillis?: string
  readonly deliveryDelayType?: string
  readonly complaintFeedbackType?: string
}

export type EnableAuthProxyIntent = { readonly [member: string]: never }

export type EnableAuthProxyResult = {
  readonly userId: string
}

export type EthCallParams = {
  readonly to: string
  readonly value?: string
  readonly data?: string
}

export type EthFailureDetails = {
  readonly revertChain?: readonly RevertChainEntry[]
}

export type EthSendRawTransactionIntent = {
  readonly signedTransaction: string
  readonly caip2: 'eip155:1' | 'eip155:11155111' | 'eip155:8453' | 'eip155:84532' | 'eip155:137' | 'eip155:80002' | 'eip155:56' | 'eip155:97' | 'eip155:10' | 'eip155:11155420' | 'eip155:143' | 'eip155:10143' | 'eip155:42161' | 'eip155:4217' | 'eip155:42431' | 'eip155:421614'
}

export type EthSendRawTransactionResult = {
  readonly transactionHash: string
}

export type EthSendTransactionIntent = {
  readonly from: string
  readonly sponsor?: boolean
  readonly caip2: 'eip155:1' | 'eip155:11155111' | 'eip155:8453' | 'eip155:84532' | 'eip155:137' | 'eip155:80002' | 'eip155:56' | 'eip155:97' | 'eip155:10' | 'eip155:11155420' | 'eip155:143' | 'eip155:10143' | 'eip155:42161' | 'eip155:4217' | 'eip155:42431' | 'eip155:421614'
  readonly to: string
  readonly value?: string
  readonly data?: string
  readonly nonce?: string
  readonly gasLimit?: string
  readonly maxFeePerGas?: string
  readonly maxPriorityFeePerGas?: string
  readonly deadline?: string
  readonly gasStationNonce?: string
}

export type EthSendTransactionIntentV2 = {
  readonly from: string
  readonly caip2: 'eip155:1' | 'eip155:11155111' | 'eip155:8453' | 'eip155:84532' | 'eip155:137' | 'eip155:80002' | 'eip155:56' | 'eip155:97' | 'eip155:10' | 'eip155:11155420' | 'eip155:143' | 'eip155:10143' | 'eip155:42161' | 'eip155:4217' | 'eip155:42431' | 'eip155:421614'
  readonly sponsor?: boolean
  readonly nonce?: string
  readonly gasLimit?: string
  readonly maxFeePerGas?: string
  readonly maxPriorityFeePerGas?: string
  readonly deadline?: string
  readonly gasStationNonce?: string
  readonly calls: readonly EthCallParams[]
}

export type EthSendTransactionResult = {
  readonly sendTransactionStatusId: string
}

export type EthSendTransactionResultV2 = {
  readonly sendTransactionStatusId: string
}

export type EthSendTransactionStatus = {
  readonly txHash?: string
}

export type EthTransactionHistoryItem = {
  readonly transactionHash: string
  readonly block: TransactionHistoryBlock
  readonly status: 'CONFIRMED' | 'FINALIZED'
  readonly origin: string
  readonly from: string
  readonly to?: string
  readonly fee: TransactionHistoryFee
  readonly transfers: readonly TransactionHistoryTransfer[]
  readonly turnkey?: TransactionHistoryTurnkey
}

export type EthUndelegate7702Intent = {
  readonly from: string
  readonly caip2: 'eip155:1' | 'eip155:11155111' | 'eip155:8453' | 'eip155:84532' | 'eip155:137' | 'eip155:80002' | 'eip155:56' | 'eip155:97' | 'eip155:10' | 'eip155:11155420' | 'eip155:143' | 'eip155:10143' | 'eip155:42161' | 'eip155:421614'
  readonly nonce?: string
  readonly gasLimit?: string
  readonly maxFeePerGas?: string
  readonly maxPriorityFeePerGas?: string
}

export type EthUndelegate7702Result = {
  readonly sendTransactionStatusId: string
}

export type ExecuteSwapIntent = {
  readonly inputToken: string
  readonly outputToken: string
  readonly inputAmount: string
  readonly walletAccount: string
  readonly sponsor?: boolean
  readonly slippage?: string
  readonly provider?: string
  readonly minOutputAmount: string
}

export type ExecuteSwapIntentV2 = {
  readonly quoteId: string
  readonly inputToken: string
  readonly inputAmount: string
  readonly outputToken: string
  readonly quotedOutputAmount: string
  readonly minOutputAmount: string
  readonly sponsor: boolean
  readonly evmNonce?: string
  readonly recentBlockhash?: string
  readonly gasStationNonce?: string
}

export type ExecuteSwapResult = {
  readonly swapRequestId: string
  readonly provider?: string
  readonly quoteId?: string
}

export type ExportPrivateKeyIntent = {
  readonly privateKeyId: string
  readonly targetPublicKey: string
}

export type ExportPrivateKeyResult = {
  readonly privateKeyId: string
  readonly exportBundle: string
}

export type ExportSecretParams = {
  readonly secretId: string
  readonly targetPublicKey: string
  readonly encryptionSuite: TransportEncryptionSuite
}

export type ExportSecretsIntent = {
  readonly secrets: readonly ExportSecretParams[]
}

export type ExportSecretsResult = {
  readonly secretPayloads: readonly string[]
}

export type ExportWalletAccountIntent = {
  readonly address: string
  readonly targetPublicKey: string
}

export type ExportWalletAccountResult = {
  readonly address: string
  readonly exportBundle: string
}

export type ExportWalletIntent = {
  readonly walletId: string
  readonly targetPublicKey: string
  readonly language?: MnemonicLanguage
}

export type ExportWalletResult = {
  readonly walletId: string
  readonly exportBundle: string
}

export type Feature = {
  readonly name?: FeatureName
  readonly value?: string
}

export type FiatOnRampCredential = {
  readonly fiatOnrampCredentialId: string
  readonly organizationId: string
  readonly onrampProvider: FiatOnRampProvider
  readonly projectId?: string
  readonly publishableApiKey: string
  readonly encryptedSecretApiKey: string
  readonly encryptedPrivateApiKey?: string
  readonly sandboxMode?: boolean
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
}

export type GetActivitiesRequest = {
  readonly organizationId: string
  readonly filterByStatus?: readonly ActivityStatus[]
  readonly paginationOptions?: Pagination
  readonly filterByType?: readonly ActivityType[]
}

export type GetActivitiesResponse = {
  readonly activities: readonly Activity[]
}

export type GetActivityRequest = {
  readonly organizationId: string
  readonly activityId: string
}

export type GetApiKeyRequest = {
  readonly organizationId: string
  readonly apiKeyId: string
}

export type GetApiKeyResponse = {
  readonly apiKey: ApiKey
}

export type GetApiKeysRequest = {
  readonly organizationId: string
  readonly userId?: string
}

export type GetApiKeysResponse = {
  readonly apiKeys: readonly ApiKey[]
}

export type GetAppProofsRequest = {
  readonly organizationId: string
  readonly activityId: string
}

export type GetAppProofsResponse = {
  readonly appProofs: readonly AppProof[]
}

export type GetAppStatusRequest = {
  readonly organizationId: string
  readonly appId: string
}

export type GetAppStatusResponse = {
  readonly appStatus: AppStatus
}

export type GetAuthenticatorRequest = {
  readonly organizationId: string
  readonly authenticatorId: string
}

export type GetAuthenticatorResponse = {
  readonly authenticator: Authenticator
}

export type GetAuthenticatorsRequest = {
  readonly organizationId: string
  readonly userId: string
}

export type GetAuthenticatorsResponse = {
  readonly authenticators: readonly Authenticator[]
}

export type GetBootProofRequest = {
  readonly organizationId: string
  readonly ephemeralKey: string
}

export type GetClaimEarnFeesStatusRequest = {
  readonly organizationId: string
  readonly claimRequestId: string
}

export type GetClaimEarnFeesStatusResponse = {
  readonly status: 'PENDING' | 'COMPLETED' | 'FAILED'
  readonly claimTxHash?: string
  readonly error?: string
}

export type GetEarnDeployStatusRequest = {
  readonly organizationId: string
  readonly deployRequestId: string
}

export type GetEarnDeployStatusResponse = {
  readonly status: 'PENDING' | 'COMPLETED' | 'FAILED'
  readonly deployTxHash?: string
  readonly error?: string
}

export type GetEarnDepositStatusRequest = {
  readonly organizationId: string
  readonly depositRequestId: string
}

export type GetEarnDepositStatusResponse = {
  readonly status: 'PENDING' | 'COMPLETED' | 'FAILED'
  readonly depositTxHash?: string
  readonly error?: string
}

export type GetEarnWithdrawStatusRequest = {
  readonly organizationId: string
  readonly withdrawRequestId: string
}

export type GetEarnWithdrawStatusResponse = {
  readonly status: 'PENDING' | 'COMPLETED' | 'FAILED'
  readonly withdrawTxHash?: string
  readonly error?: string
}

export type GetGasUsageRequest = {
  readonly organizationId: string
}

export type GetGasUsageResponse = {
  readonly windowDurationMinutes: number
  readonly windowLimitUsd: string
  readonly usageUsd: string
}

export type GetIpAllowlistRequest = {
  readonly organizationId: string
  readonly publicKey?: string
}

export type GetIpAllowlistResponse = {
  readonly allowlist: IpAllowlist
}

export type GetLatestBootProofRequest = {
  readonly organizationId: string
  readonly appName: string
}

export type GetMfaPoliciesRequest = {
  readonly organizationId: string
  readonly userId: string
}

export type GetMfaPoliciesResponse = {
  readonly mfaPolicies: readonly MfaPolicy[]
}

export type GetMfaPolicyRequest = {
  readonly organizationId: string
  readonly userId: string
  readonly mfaPolicyId: string
}

export type GetMfaPolicyResponse = {
  readonly mfaPolicy: MfaPolicy
}

export type GetMfaStatusRequest = {
  readonly organizationId: string
  readonly activityId: string
  readonly userId?: string
}

export type GetMfaStatusResponse = {
  readonly mfaStatuses: readonly MfaStatus[]
}

export type GetNoncesRequest = {
  readonly organizationId: string
  readonly address: string
  readonly caip2: 'eip155:1' | 'eip155:11155111' | 'eip155:8453' | 'eip155:84532' | 'eip155:137' | 'eip155:80002' | 'eip155:56' | 'eip155:97' | 'eip155:10' | 'eip155:11155420' | 'eip155:143' | 'eip155:10143' | 'eip155:42161' | 'eip155:4217' | 'eip155:42431' | 'eip155:421614'
  readonly nonce?: boolean
  readonly gasStationNonce?: boolean
}

export type GetNoncesResponse = {
  readonly nonce?: string
  readonly gasStationNonce?: string
}

export type GetOauth2CredentialRequest = {
  readonly organizationId: string
  readonly oauth2CredentialId: string
}

export type GetOauth2CredentialResponse = {
  readonly oauth2Credential: Oauth2Credential
}

export type GetOauthProvidersRequest = {
  readonly organizationId: string
  readonly userId?: string
}

export type GetOauthProvidersResponse = {
  readonly oauthProviders: readonly OauthProvider[]
}

export type GetOnRampTransactionStatusRequest = {
  readonly organizationId: string
  readonly transactionId: string
  readonly refresh?: boolean
}

export type GetOnRampTransactionStatusResponse = {
  readonly transactionStatus: string
}

export type GetOrganizationConfigsRequest = {
  readonly organizationId: string
}

export type GetOrganizationConfigsResponse = {
  readonly configs: Config
}

export type GetPoliciesRequest = {
  readonly organizationId: string
}

export type GetPoliciesResponse = {
  readonly policies: readonly Policy[]
}

export type GetPolicyEvaluationsRequest = {
  readonly organizationId: string
  readonly activityId: string
}

export type GetPolicyEvaluationsResponse = {
  readonly policyEvaluations: readonly PolicyEvaluation[]
}

export type GetPolicyRequest = {
  readonly organizationId: string
  readonly policyId: string
}

export type GetPolicyResponse = {
  readonly policy: Policy
}

export type GetPrivateKeyRequest = {
  readonly organizationId: string
  readonly privateKeyId: string
}

export type GetPrivateKeyResponse = {
  readonly privateKey: PrivateKey
}

export type GetPrivateKeysRequest = {
  readonly organizationId: string
}

export type GetPrivateKeysResponse = {
  readonly privateKeys: readonly PrivateKey[]
}

export type GetSendTransactionStatusRequest = {
  readonly organizationId: string
  readonly sendTransactionStatusId: string
}

export type GetSendTransactionStatusResponse = {
  readonly txStatus: string
  readonly eth?: EthSendTransactionStatus
  readonly solana?: SolanaSendTransactionStatus
  readonly txError?: string
  readonly error?: TxError
}

export type GetSessionProfileRequest = {
  readonly organizationId: string
  readonly sessionProfileId: string
}

export type GetSessionProfileResponse = {
  readonly sessionProfile: SessionProfile
}

export type GetSessionProfilesRequest = {
  readonly organizationId: string
}

export type GetSessionProfilesResponse = {
  readonly sessionProfiles: readonly SessionProfile[]
}

export type GetSmartContractInterfaceRequest = {
  readonly organizationId: string
  readonly smartContractInterfaceId: string
}

export type GetSmartContractInterfaceResponse = {
  readonly smartContractInterface: SmartContractInterface
}

export type GetSmartContractInterfacesRequest = {
  readonly organizationId: string
}

export type GetSmartContractInterfacesResponse = {
  readonly smartContractInterfaces: readonly SmartContractInterface[]
}

export type GetSubOrgIdsRequest = {
  readonly organizationId: string
  readonly filterType?: string
  readonly filterValue?: string
  readonly paginationOptions?: Pagination
}

export type GetSubOrgIdsResponse = {
  readonly organizationIds: readonly string[]
}

export type GetSwapStatusRequest = {
  readonly organizationId: string
  readonly swapRequestId: string
}

export type GetSwapStatusResponse = {
  readonly status: string
  readonly swapKind: string
  readonly provider: string
  readonly inputToken: string
  readonly outputToken: string
  readonly inputAmount: string
  readonly originTxHash?: string
  readonly destinationTxHashes?: readonly string[]
  readonly outputAmount?: string
  readonly refund?: SwapRefund
  readonly updatedAt: string
  readonly error?: SwapError
}

export type GetTvcAppDeploymentsRequest = {
  readonly organizationId: string
  readonly appId: string
}

export type GetTvcAppDeploymentsResponse = {
  readonly tvcDeployments: readonly TvcDeployment[]
}

export type GetTvcAppRequest = {
  readonly organizationId: string
  readonly tvcAppId: string
}

export type GetTvcAppResponse = {
  readonly tvcApp: TvcApp
}

export type GetTvcAppsRequest = {
  readonly organizationId: string
}

export type GetTvcAppsResponse = {
  readonly tvcApps: readonly TvcApp[]
}

export type GetTvcDeploymentDebugLogsRequest = {
  readonly organizationId: string
  readonly deploymentId: string
  readonly tailLines?: number
  readonly sinceSeconds?: string
}

export type GetTvcDeploymentDebugLogsResponse = {
  readonly entries: readonly TvcDeploymentDebugLogEntry[]
}

export type GetTvcDeploymentRequest = {
  readonly organizationId: string
  readonly deploymentId: string
}

export type GetTvcDeploymentResponse = {
  readonly tvcDeployment: TvcDeployment
}

export type GetTvcQosVersionsRequest = {
  readonly organizationId: string
}

export type GetTvcQosVersionsResponse = {
  readonly availableVersions: readonly string[]
  readonly latestVersion: string
}

export type GetUserRequest = {
  readonly organizationId: string
  readonly userId: string
}

export type GetUserResponse = {
  readonly user: User
}

export type GetUsersRequest = {
  readonly organizationId: string
}

export type GetUsersResponse = {
  readonly users: readonly User[]
}

export type GetVerifiedSubOrgIdsRequest = {
  readonly organizationId: string
  readonly filterType?: string
  readonly filterValue?: string
  readonly paginationOptions?: Pagination
}

export type GetVerifiedSubOrgIdsResponse = {
  readonly organizationIds: readonly string[]
}

export type GetWalletAccountRequest = {
  readonly organizationId: string
  readonly walletId: string
  readonly address?: string
  readonly path?: string
}

export type GetWalletAccountResponse = {
  readonly account: WalletAccount
}

export type GetWalletAccountsRequest = {
  readonly organizationId: string
  readonly walletId?: string
  readonly includeWalletDetails?: boolean
  readonly paginationOptions?: Pagination
}

export type GetWalletAccountsResponse = {
  readonly accounts: readonly WalletAccount[]
}

export type GetWalletAddressBalancesRequest = {
  readonly organizationId: string
  readonly address: string
  readonly caip2: 'eip155:1' | 'eip155:11155111' | 'eip155:8453' | 'eip155:84532' | 'eip155:137' | 'eip155:80002' | 'eip155:56' | 'eip155:97' | 'eip155:10' | 'eip155:11155420' | 'eip155:143' | 'eip155:10143' | 'eip155:42161' | 'eip155:4217' | 'eip155:42431' | 'eip155:421614' | 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' | 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1' | 'solana:mainnet' | 'solana:devnet'
}

export type GetWalletAddressBalancesResponse = {
  readonly balances?: readonly AssetBalance[]
}

export type GetWalletRequest = {
  readonly organizationId: string
  readonly walletId: string
}

export type GetWalletResponse = {
  readonly wallet: Wallet
}

export type GetWalletsRequest = {
  readonly organizationId: string
}

export type GetWalletsResponse = {
  readonly wallets: readonly Wallet[]
}

export type GetWhoamiRequest = {
  readonly organizationId: string
}

export type GetWhoamiResponse = {
  readonly organizationId: string
  readonly organizationName: string
  readonly userId: string
  readonly username: string
}

export type ImportPrivateKeyIntent = {
  readonly userId: string
  readonly privateKeyName: string
  readonly encryptedBundle: string
  readonly curve: Curve
  readonly addressFormats: readonly AddressFormat[]
}

export type ImportPrivateKeyResult = {
  readonly privateKeyId: string
  readonly addresses: readonly Address[]
}

export type ImportSecretParams = {
  readonly name?: string
  readonly secretPayload: string
  readonly targetPublicKey: string
  readonly encryptionSuite: TransportEncryptionSuite
  readonly staticProperties?: readonly KeyValue[]
}

export type ImportSecretsIntent = {
  readonly secrets: readonly ImportSecretParams[]
}

export type ImportSecretsResult = {
  readonly secretIds: readonly string[]
}

export type ImportWalletIntent = {
  readonly userId: string
  readonly walletName: string
  readonly encryptedBundle: string
  readonly accounts: readonly WalletAccountParams[]
}

export type ImportWalletResult = {
  readonly walletId: string
  readonly addresses: readonly string[]
}

export type InitFiatOnRampIntent = {
  readonly onrampProvider: FiatOnRampProvider
  readonly walletAddress: string
  readonly network: FiatOnRampBlockchainNetwork
  readonly cryptoCurrencyCode: FiatOnRampCryptoCurrency
  readonly fiatCurrencyCode?: FiatOnRampCurrency
  readonly fiatCurrencyAmount?: string
  readonly paymentMethod?: FiatOnRampPaymentMethod
  readonly countryCode?: string
  readonly countrySubdivisionCode?: string
  readonly sandboxMode?: boolean
  readonly urlForSignature?: string
}

export type InitFiatOnRampResult = {
  readonly onRampUrl: string
  readonly onRampTransactionId: string
  readonly onRampUrlSignature?: string
}

export type InitImportPrivateKeyIntent = {
  readonly userId: string
}

export type InitImportPrivateKeyResult = {
  readonly importBundle: string
}

export type InitImportSecretsIntent = {
  readonly encryptionSuite: TransportEncryptionSuite
  readonly numSecrets: number
}

export type InitImportSecretsResult = {
  readonly enclaveTargetMessages: readonly string[]
}

export type InitImportWalletIntent = {
  readonly userId: string
}

export type InitImportWalletResult = {
  readonly importBundle: string
}

export type InitOtpAuthIntent = {
  readonly otpType: string
  readonly contact: string
  readonly emailCustomization?: EmailCustomizationParams
  readonly smsCustomization?: SmsCustomizationParams
  readonly userIdentifier?: string
  readonly sendFromEmailAddress?: string
  readonly sendFromEmailSenderName?: string
  readonly replyToEmailAddress?: string
}

export type InitOtpAuthIntentV2 = {
  readonly otpType: string
  readonly contact: string
  readonly otpLength?: number
  readonly emailCustomization?: EmailCustomizationParams
  readonly smsCustomization?: SmsCustomizationParams
  readonly userIdentifier?: string
  readonly sendFromEmailAddress?: string
  readonly alphanumeric?: boolean
  readonly sendFromEmailSenderName?: string
  readonly replyToEmailAddress?: string
}

export type InitOtpAuthIntentV3 = {
  readonly otpType: string
  readonly contact: string
  readonly otpLength?: number
  readonly appName: string
  readonly emailCustomization?: EmailCustomizationParamsV2
  readonly smsCustomization?: SmsCustomizationParams
  readonly userIdentifier?: string
  readonly sendFromEmailAddress?: string
  readonly alphanumeric?: boolean
  readonly sendFromEmailSenderName?: string
  readonly expirationSeconds?: string
  readonly replyToEmailAddress?: string
}

export type InitOtpAuthResult = {
  readonly otpId: string
}

export type InitOtpAuthResultV2 = {
  readonly otpId: string
}

export type InitOtpIntent = {
  readonly otpType: string
  readonly contact: string
  readonly otpLength?: number
  readonly emailCustomization?: EmailCustomizationParams
  readonly smsCustomization?: SmsCustomizationParams
  readonly userIdentifier?: string
  readonly sendFromEmailAddress?: string
  readonly alphanumeric?: boolean
  readonly sendFromEmailSenderName?: string
  readonly expirationSeconds?: string
  readonly replyToEmailAddress?: string
}

export type InitOtpIntentV2 = {
  readonly otpType: string
  readonly contact: string
  readonly otpLength?: number
  readonly appName: string
  readonly emailCustomization?: EmailCustomizationParamsV2
  readonly smsCustomization?: SmsCustomizationParams
  readonly userIdentifier?: string
  readonly sendFromEmailAddress?: string
  readonly alphanumeric?: boolean
  readonly sendFromEmailSenderName?: string
  readonly expirationSeconds?: string
  readonly replyToEmailAddress?: string
}

export type InitOtpIntentV3 = {
  readonly otpType: string
  readonly contact: string
  readonly appName: string
  readonly otpLength?: number
  readonly emailCustomization?: EmailCustomizationParamsV2
  readonly smsCustomization?: SmsCustomizationParams
  readonly userIdentifier?: string
  readonly sendFromEmailAddress?: string
  readonly alphanumeric?: boolean
  readonly sendFromEmailSenderName?: string
  readonly expirationSeconds?: string
  readonly replyToEmailAddress?: string
}

export type InitOtpResult = {
  readonly otpId: string
}

export type InitOtpResultV2 = {
  readonly otpId: string
  readonly otpEncryptionTargetBundle: string
}

export type InitUserEmailRecoveryIntent = {
  readonly email: string
  readonly targetPublicKey: string
  readonly expirationSeconds?: string
  readonly emailCustomization?: EmailCustomizationParams
  readonly sendFromEmailAddress?: string
  readonly sendFromEmailSenderName?: string
  readonly replyToEmailAddress?: string
}

export type InitUserEmailRecoveryIntentV2 = {
  readonly email: string
  readonly targetPublicKey: string
  readonly expirationSeconds?: string
  readonly emailCustomization: EmailAuthCustomizationParams
  readonly sendFromEmailAddress?: string
  readonly sendFromEmailSenderName?: string
  readonly replyToEmailAddress?: string
}

export type InitUserEmailRecoveryResult = {
  readonly userId: string
}

export type Intent = {
  readonly createOrganizationIntent?: CreateOrganizationIntent
  readonly createAuthenticatorsIntent?: CreateAuthenticatorsIntent
  readonly createUsersIntent?: CreateUsersIntent
  readonly createPrivateKeysIntent?: CreatePrivateKeysIntent
  readonly signRawPayloadIntent?: SignRawPayloadIntent
  readonly createInvitationsIntent?: CreateInvitationsIntent
  readonly acceptInvitationIntent?: AcceptInvitationIntent
  readonly createPolicyIntent?: CreatePolicyIntent
  readonly disablePrivateKeyIntent?: DisablePrivateKeyIntent
  readonly deleteUsersIntent?: DeleteUsersIntent
  readonly deleteAuthenticatorsIntent?: DeleteAuthenticatorsIntent
  readonly deleteInvitationIntent?: DeleteInvitationIntent
  readonly deleteOrganizationIntent?: DeleteOrganizationIntent
  readonly deletePolicyIntent?: DeletePolicyIntent
  readonly createUserTagIntent?: CreateUserTagIntent
  readonly deleteUserTagsIntent?: DeleteUserTagsIntent
  readonly signTransactionIntent?: SignTransactionIntent
  readonly createApiKeysIntent?: CreateApiKeysIntent
  readonly deleteApiKeysIntent?: DeleteApiKeysIntent
  readonly approveActivityIntent?: ApproveActivityIntent
  readonly rejectActivityIntent?: RejectActivityIntent
  readonly createPrivateKeyTagIntent?: CreatePrivateKeyTagIntent
  readonly deletePrivateKeyTagsIntent?: DeletePrivateKeyTagsIntent
  readonly createPolicyIntentV2?: CreatePolicyIntentV2
  readonly setPaymentMethodIntent?: SetPaymentMethodIntent
  readonly activateBillingTierIntent?: ActivateBillingTierIntent
  readonly deletePaymentMethodIntent?: DeletePaymentMethodIntent
  readonly createPolicyIntentV3?: CreatePolicyIntentV3
  readonly createApiOnlyUsersIntent?: CreateApiOnlyUsersIntent
  readonly updateRootQuorumIntent?: UpdateRootQuorumIntent
  readonly updateUserTagIntent?: UpdateUserTagIntent
  readonly updatePrivateKeyTagIntent?: UpdatePrivateKeyTagIntent
  readonly createAuthenticatorsIntentV2?: CreateAuthenticatorsIntentV2
  readonly acceptInvitationIntentV2?: AcceptInvitationIntentV2
  readonly createOrganizationIntentV2?: CreateOrganizationIntentV2
  readonly createUsersIntentV2?: CreateUsersIntentV2
  readonly createSubOrganizationIntent?: CreateSubOrganizationIntent
  readonly createSubOrganizationIntentV2?: CreateSubOrganizationIntentV2
  readonly updateAllowedOriginsIntent?: UpdateAllowedOriginsIntent
  readonly createPrivateKeysIntentV2?: CreatePrivateKeysIntentV2
  readonly updateUserIntent?: UpdateUserIntent
  readonly updatePolicyIntent?: UpdatePolicyIntent
  readonly setPaymentMethodIntentV2?: SetPaymentMethodIntentV2
  readonly createSubOrganizationIntentV3?: CreateSubOrganizationIntentV3
  readonly createWalletIntent?: CreateWalletIntent
  readonly createWalletAccountsIntent?: CreateWalletAccountsIntent
  readonly initUserEmailRecoveryIntent?: InitUserEmailRecoveryIntent
  readonly recoverUserIntent?: RecoverUserIntent
  readonly setOrganizationFeatureIntent?: SetOrganizationFeatureIntent
  readonly removeOrganizationFeatureIntent?: RemoveOrganizationFeatureIntent
  readonly signRawPayloadIntentV2?: SignRawPayloadIntentV2
  readonly signTransactionIntentV2?: SignTransactionIntentV2
  readonly exportPrivateKeyIntent?: ExportPrivateKeyIntent
  readonly exportWalletIntent?: ExportWalletIntent
  readonly createSubOrganizationIntentV4?: CreateSubOrganizationIntentV4
  readonly emailAuthIntent?: EmailAuthIntent
  readonly exportWalletAccountIntent?: ExportWalletAccountIntent
  readonly initImportWalletIntent?: InitImportWalletIntent
  readonly importWalletIntent?: ImportWalletIntent
  readonly initImportPrivateKeyIntent?: InitImportPrivateKeyIntent
  readonly importPrivateKeyIntent?: ImportPrivateKeyIntent
  readonly createPoliciesIntent?: CreatePoliciesIntent
  readonly signRawPayloadsIntent?: SignRawPayloadsIntent
  readonly createReadOnlySessionIntent?: CreateReadOnlySessionIntent
  readonly createOauthProvidersIntent?: CreateOauthProvidersIntent
  readonly deleteOauthProvidersIntent?: DeleteOauthProvidersIntent
  readonly createSubOrganizationIntentV5?: CreateSubOrganizationIntentV5
  readonly oauthIntent?: OauthIntent
  readonly createApiKeysIntentV2?: CreateApiKeysIntentV2
  readonly createReadWriteSessionIntent?: CreateReadWriteSessionIntent
  readonly emailAuthIntentV2?: EmailAuthIntentV2
  readonly createSubOrganizationIntentV6?: CreateSubOrganizationIntentV6
  readonly deletePrivateKeysIntent?: DeletePrivateKeysIntent
  readonly deleteWalletsIntent?: DeleteWalletsIntent
  readonly createReadWriteSessionIntentV2?: CreateReadWriteSessionIntentV2
  readonly deleteSubOrganizationIntent?: DeleteSubOrganizationIntent
  readonly initOtpAuthIntent?: InitOtpAuthIntent
  readonly otpAuthIntent?: OtpAuthIntent
  readonly createSubOrganizationIntentV7?: CreateSubOrganizationIntentV7
  readonly updateWalletIntent?: UpdateWalletIntent
  readonly updatePolicyIntentV2?: UpdatePolicyIntentV2
  readonly createUsersIntentV3?: CreateUsersIntentV3
  readonly initOtpAuthIntentV2?: InitOtpAuthIntentV2
  readonly initOtpIntent?: InitOtpIntent
  readonly verifyOtpIntent?: VerifyOtpIntent
  readonly otpLoginIntent?: OtpLoginIntent
  readonly stampLoginIntent?: StampLoginIntent
  readonly oauthLoginIntent?: OauthLoginIntent
  readonly updateUserNameIntent?: UpdateUserNameIntent
  readonly updateUserEmailIntent?: UpdateUserEmailIntent
  readonly updateUserPhoneNumberIntent?: UpdateUserPhoneNumberIntent
  readonly initFiatOnRampIntent?: InitFiatOnRampIntent
  readonly createSmartContractInterfaceIntent?: CreateSmartContractInterfaceIntent
  readonly deleteSmartContractInterfaceIntent?: DeleteSmartContractInterfaceIntent
  readonly enableAuthProxyIntent?: EnableAuthProxyIntent
  readonly disableAuthProxyIntent?: DisableAuthProxyIntent
  readonly updateAuthProxyConfigIntent?: UpdateAuthProxyConfigIntent
  readonly createOauth2CredentialIntent?: CreateOauth2CredentialIntent
  readonly updateOauth2CredentialIntent?: UpdateOauth2CredentialIntent
  readonly deleteOauth2CredentialIntent?: DeleteOauth2CredentialIntent
  readonly oauth2AuthenticateIntent?: Oauth2AuthenticateIntent
  readonly deleteWalletAccountsIntent?: DeleteWalletAccountsIntent
  readonly deletePoliciesIntent?: DeletePoliciesIntent
  readonly ethSendRawTransactionIntent?: EthSendRawTransactionIntent
  readonly ethSendTransactionIntent?: EthSendTransactionIntent
  readonly createFiatOnRampCredentialIntent?: CreateFiatOnRampCredentialIntent
  readonly updateFiatOnRampCredentialIntent?: UpdateFiatOnRampCredentialIntent
  readonly deleteFiatOnRampCredentialIntent?: DeleteFiatOnRampCredentialIntent
  readonly emailAuthIntentV3?: EmailAuthIntentV3
  readonly initUserEmailRecoveryIntentV2?: InitUserEmailRecoveryIntentV2
  readonly initOtpIntentV2?: InitOtpIntentV2
  readonly initOtpAuthIntentV3?: InitOtpAuthIntentV3
  readonly upsertGasUsageConfigIntent?: UpsertGasUsageConfigIntent
  readonly createTvcAppIntent?: CreateTvcAppIntent
  readonly createTvcDeploymentIntent?: CreateTvcDeploymentIntent
  readonly createTvcManifestApprovalsIntent?: CreateTvcManifestApprovalsIntent
  readonly solSendTransactionIntent?: SolSendTransactionIntent
  readonly initOtpIntentV3?: InitOtpIntentV3
  readonly verifyOtpIntentV2?: VerifyOtpIntentV2
  readonly otpLoginIntentV2?: OtpLoginIntentV2
  readonly updateOrganizationNameIntent?: UpdateOrganizationNameIntent
  readonly createSubOrganizationIntentV8?: CreateSubOrganizationIntentV8
  readonly createOauthProvidersIntentV2?: CreateOauthProvidersIntentV2
  readonly createUsersIntentV4?: CreateUsersIntentV4
  readonly createWebhookEndpointIntent?: CreateWebhookEndpointIntent
  readonly updateWebhookEndpointIntent?: UpdateWebhookEndpointIntent
  readonly deleteWebhookEndpointIntent?: DeleteWebhookEndpointIntent
  readonly setIpAllowlistIntent?: SetIpAllowlistIntent
  readonly removeIpAllowlistIntent?: RemoveIpAllowlistIntent
  readonly updateTvcAppLiveDeploymentIntent?: UpdateTvcAppLiveDeploymentIntent
  readonly deleteTvcDeploymentIntent?: DeleteTvcDeploymentIntent
  readonly deleteTvcAppAndDeploymentsIntent?: DeleteTvcAppAndDeploymentsIntent
  readonly restoreTvcDeploymentIntent?: RestoreTvcDeploymentIntent
  readonly sparkSignFrostIntent?: SparkSignFrostIntent
  readonly sparkPrepareTransferIntent?: SparkPrepareTransferIntent
  readonly sparkClaimTransferIntent?: SparkClaimTransferIntent
  readonly sparkPrepareLightningReceiveIntent?: SparkPrepareLightningReceiveIntent
  readonly postTvcQuorumKeyShareIntent?: PostTvcQuorumKeyShareIntent
  readonly ethSendTransactionIntentV2?: EthSendTransactionIntentV2
  readonly createMfaPolicyIntent?: CreateMfaPolicyIntent
  readonly updateMfaPolicyIntent?: UpdateMfaPolicyIntent
  readonly deleteMfaPolicyIntent?: DeleteMfaPolicyIntent
  readonly createSessionProfileIntent?: CreateSessionProfileIntent
  readonly earnDeployWrapperIntent?: EarnDeployWrapperIntent
  readonly earnDepositIntent?: EarnDepositIntent
  readonly earnWithdrawIntent?: EarnWithdrawIntent
  readonly executeSwapIntent?: ExecuteSwapIntent
  readonly upsertSwapConfigIntent?: UpsertSwapConfigIntent
  readonly createTvcOperatorIntent?: CreateTvcOperatorIntent
  readonly createTvcQuorumKeyIntent?: CreateTvcQuorumKeyIntent
  readonly reEncryptTvcQuorumKeyShareIntent?: ReEncryptTvcQuorumKeyShareIntent
  readonly initImportSecretsIntent?: InitImportSecretsIntent
  readonly solSendTransactionIntentV2?: SolSendTransactionIntentV2
  readonly claimSwapFeesIntent?: ClaimSwapFeesIntent
  readonly earnSetWrapperStateIntent?: EarnSetWrapperStateIntent
  readonly claimEarnFeesIntent?: ClaimEarnFeesIntent
  readonly updateWalletAccountNameIntent?: UpdateWalletAccountNameIntent
  readonly ethUndelegate7702Intent?: EthUndelegate7702Intent
  readonly executeSwapIntentV2?: ExecuteSwapIntentV2
  readonly createSwapQuoteIntent?: CreateSwapQuoteIntent
  readonly importSecretsIntent?: ImportSecretsIntent
  readonly exportSecretsIntent?: ExportSecretsIntent
}

export type InvitationParams = {
  readonly receiverUserName: string
  readonly receiverUserEmail: string
  readonly receiverUserTags: readonly string[]
  readonly accessType: AccessType
  readonly senderUserId: string
}

export type IpAllowlist = {
  readonly organizationId: string
  readonly rules: readonly IpAllowlistRule[]
  readonly publicKey?: string
  readonly enabled?: boolean
  readonly onEvaluationError?: string
}

export type IpAllowlistIntentRule = {
  readonly cidr: string
  readonly label?: string
}

export type IpAllowlistRule = {
  readonly cidr: string
  readonly label?: string
  readonly createdAt?: string
}

export type KeyValue = {
  readonly key?: string
  readonly value?: string
}

export type ListEarnEnabledVaultsRequest = {
  readonly organizationId: string
  readonly provider?: EarnProvider
  readonly caip19?: string
}

export type ListEarnEnabledVaultsResponse = {
  readonly enabledVaults?: readonly EarnEnabledVault[]
}

export type ListEarnPositionsRequest = {
  readonly organizationId: string
  readonly walletAddress: string
}

export type ListEarnPositionsResponse = {
  readonly positions?: readonly EarnPosition[]
}

export type ListEarnVaultsRequest = {
  readonly organizationId: string
  readonly provider?: EarnProvider
  readonly caip19: string
  readonly paginationOptions?: Pagination
}

export type ListEarnVaultsResponse = {
  readonly vaults?: readonly EarnVault[]
  readonly pageInfo?: PageInfo
}

export type ListEmailEventsRequest = {
  readonly organizationId: string
  readonly email: string
  readonly eventType?: string
  readonly paginationOptions?: Pagination
}

export type ListEmailEventsResponse = {
  readonly emailEvents: readonly EmailEvent[]
}

export type ListEthTransactionHistoryRequest = {
  readonly organizationId: string
  readonly address: string
  readonly caip2: 'eip155:1' | 'eip155:11155111' | 'eip155:8453' | 'eip155:84532' | 'eip155:137' | 'eip155:80002' | 'eip155:42161' | 'eip155:4217' | 'eip155:42431' | 'eip155:421614' | 'eip155:56' | 'eip155:97'
  readonly paginationOptions?: Pagination
}

export type ListEthTransactionHistoryResponse = {
  readonly transactions: readonly EthTransactionHistoryItem[]
  readonly pageInfo?: PageInfo
}

export type ListFiatOnRampCredentialsRequest = {
  readonly organizationId: string
}

export type ListFiatOnRampCredentialsResponse = {
  readonly fiatOnRampCredentials: readonly FiatOnRampCredential[]
}

export type ListOauth2CredentialsRequest = {
  readonly organizationId: string
}

export type ListOauth2CredentialsResponse = {
  readonly oauth2Credentials: readonly Oauth2Credential[]
}

export type ListPrivateKeyTagsRequest = {
  readonly organizationId: string
}

export type ListPrivateKeyTagsResponse = {
  readonly privateKeyTags: readonly Tag[]
}

export type ListSecretsRequest = {
  readonly organizationId: string
  readonly paginationOptions?: Pagination
}

export type ListSecretsResponse = {
  readonly secrets: readonly SecretMetadata[]
}

export type ListSolTransactionHistoryRequest = {
  readonly organizationId: string
  readonly address: string
  readonly caip2: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' | 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1' | 'solana:mainnet' | 'solana:devnet'
  readonly paginationOptions?: Pagination
}

export type ListSolTransactionHistoryResponse = {
  readonly transactions: readonly SolTransactionHistoryItem[]
  readonly pageInfo?: PageInfo
}

export type ListSupportedAssetsRequest = {
  readonly organizationId: string
  readonly caip2: 'eip155:1' | 'eip155:11155111' | 'eip155:8453' | 'eip155:84532' | 'eip155:137' | 'eip155:80002' | 'eip155:56' | 'eip155:97' | 'eip155:10' | 'eip155:11155420' | 'eip155:143' | 'eip155:10143' | 'eip155:42161' | 'eip155:4217' | 'eip155:42431' | 'eip155:421614' | 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' | 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1' | 'solana:mainnet' | 'solana:devnet'
}

export type ListSupportedAssetsResponse = {
  readonly assets?: readonly AssetMetadata[]
}

export type ListUserTagsRequest = {
  readonly organizationId: string
}

export type ListUserTagsResponse = {
  readonly userTags: readonly Tag[]
}

export type ListWebhookEndpointsRequest = {
  readonly organizationId: string
}

export type ListWebhookEndpointsResponse = {
  readonly webhookEndpoints: readonly WebhookEndpointData[]
}

export type LogLine = {
  readonly content: string
  readonly ts?: Timestamp
}

export type MfaPolicy = {
  readonly mfaPolicyId: string
  readonly mfaPolicyName: string
  readonly condition: string
  readonly requiredAuthenticationMethods: readonly RequiredAuthenticationMethod[]
  readonly order: number
  readonly notes?: string
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
}

export type MfaStatus = {
  readonly mfaPolicyId: string
  readonly userId: string
  readonly satisfied: boolean
  readonly satisfiedMethods: readonly AuthenticationMethod[]
  readonly requiredMethods: readonly RequiredAuthenticationMethod[]
}

export type NativeRevertError = {
  readonly nativeType?: string
  readonly message?: string
  readonly panicCode?: string
}

export type Oauth2AuthenticateIntent = {
  readonly oauth2CredentialId: string
  readonly authCode: string
  readonly redirectUri: string
  readonly codeVerifier: string
  readonly nonce: string
  readonly bearerTokenTargetPublicKey?: string
}

export type Oauth2AuthenticateResult = {
  readonly oidcToken: string
}

export type Oauth2Credential = {
  readonly oauth2CredentialId: string
  readonly organizationId: string
  readonly provider: Oauth2Provider
  readonly clientId: string
  readonly encryptedClientSecret: string
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
}

export type OauthIntent = {
  readonly oidcToken: string
  readonly targetPublicKey: string
  readonly apiKeyName?: string
  readonly expirationSeconds?: string
  readonly invalidateExisting?: boolean
}

export type OauthLoginIntent = {
  readonly oidcToken: string
  readonly publicKey: string
  readonly expirationSeconds?: string
  readonly invalidateExisting?: boolean
  readonly sessionProfileId?: string
}

export type OauthLoginResult = {
  readonly session: string
}

export type OauthProvider = {
  readonly providerId: string
  readonly providerName: string
  readonly issuer: string
  readonly audience: string
  readonly subject: string
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
}

export type OauthProviderParams = {
  readonly providerName: string
  readonly oidcToken: string
}

export type OauthProviderParamsV2 = {
  readonly providerName: string
  readonly oidcToken?: string
  readonly oidcClaims?: OidcClaims
}

export type OauthResult = {
  readonly userId: string
  readonly apiKeyId: string
  readonly credentialBundle: string
}

export type OidcClaims = {
  readonly iss: string
  readonly sub: string
  readonly aud: string
}

export type OtpAuthIntent = {
  readonly otpId: string
  readonly otpCode: string
  readonly targetPublicKey: string
  readonly apiKeyName?: string
  readonly expirationSeconds?: string
  readonly invalidateExisting?: boolean
}

export type OtpAuthResult = {
  readonly userId: string
  readonly apiKeyId?: string
  readonly credentialBundle?: string
}

export type OtpLoginIntent = {
  readonly verificationToken: string
  readonly publicKey: string
  readonly expirationSeconds?: string
  readonly invalidateExisting?: boolean
  readonly clientSignature?: ClientSignature
  readonly sessionProfileId?: string
}

export type OtpLoginIntentV2 = {
  readonly verificationToken: string
  readonly publicKey: string
  readonly clientSignature: ClientSignature
  readonly expirationSeconds?: string
  readonly invalidateExisting?: boolean
  readonly sessionProfileId?: string
}

export type OtpLoginResult = {
  readonly session: string
}

export type PageInfo = {
  readonly hasNextPage?: boolean
  readonly hasPreviousPage?: boolean
  readonly startCursor?: string
  readonly endCursor?: string
}

export type Pagination = {
  readonly limit?: string
  readonly before?: string
  readonly after?: string
}

export type Policy = {
  readonly policyId: string
  readonly policyName: string
  readonly effect: Effect
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
  readonly notes: string
  readonly consensus: string
  readonly condition: string
  readonly time?: string
}

export type PostTvcQuorumKeyShareIntent = {
  readonly deploymentId: string
  readonly ephemeralPublicKeyHex: string
  readonly shareApprovalBundle: QuorumKeyShareApprovalBundle
}

export type PostTvcQuorumKeyShareResult = {
  readonly provisioningShareId: string
}

export type PrivateKey = {
  readonly privateKeyId: string
  readonly publicKey: string
  readonly privateKeyName: string
  readonly curve: Curve
  readonly addresses: readonly Address[]
  readonly privateKeyTags: readonly string[]
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
  readonly exported: boolean
  readonly imported: boolean
}

export type PrivateKeyParams = {
  readonly privateKeyName: string
  readonly curve: Curve
  readonly privateKeyTags: readonly string[]
  readonly addressFormats: readonly AddressFormat[]
}

export type PrivateKeyResult = {
  readonly privateKeyId?: string
  readonly addresses?: readonly Address[]
}

export type PublicKeyCredentialWithAttestation = {
  readonly id: string
  readonly type: 'public-key'
  readonly rawId: string
  readonly authenticatorAttachment?: 'cross-platform' | 'platform'
  readonly response: AuthenticatorAttestationResponse
  readonly clientExtensionResults: SimpleClientExtensionResults
}

export type Quorum = {
  readonly threshold: number
  readonly userIds: readonly string[]
}

export type QuorumKeyShareApprovalBundle = {
  readonly operatorId: string
  readonly reEncryptedShareHex: string
  readonly signature: string
}

export type ReEncryptTvcQuorumKeyShareIntent = {
  readonly attestationDocB64: string
  readonly manifestB64: string
  readonly operatorEncryptKey: string
  readonly operatorSignKey: string
  readonly deploymentId: string
  readonly appQuorumKey: string
}

export type ReEncryptTvcQuorumKeyShareResult = {
  readonly provisioningShareId: string
}

export type RecoverUserIntent = {
  readonly authenticator: AuthenticatorParamsV2
  readonly userId: string
}

export type RecoverUserResult = {
  readonly authenticatorId: readonly string[]
}

export type RejectActivityIntent = {
  readonly fingerprint: string
}

export type RemoveIpAllowlistIntent = {
  readonly publicKey?: string
}

export type RemoveIpAllowlistResult = { readonly [member: string]: never }

export type RemoveOrganizationFeatureIntent = {
  readonly name: FeatureName
}

export type RemoveOrganizationFeatureResult = {
  readonly features: readonly Feature[]
}

export type RequiredAuthenticationMethod = {
  readonly any: readonly AuthenticationMethod[]
}

export type RequiredAuthenticationMethodParams = {
  readonly any: readonly AuthenticationMethodParams[]
}

export type RestoreTvcDeploymentIntent = {
  readonly deploymentId: string
}

export type RestoreTvcDeploymentResult = {
  readonly deploymentId: string
}

export type Result = {
  readonly createOrganizationResult?: CreateOrganizationResult
  readonly createAuthenticatorsResult?: CreateAuthenticatorsResult
  readonly createUsersResult?: CreateUsersResult
  readonly createPrivateKeysResult?: CreatePrivateKeysResult
  readonly createInvitationsResult?: CreateInvitationsResult
  readonly acceptInvitationResult?: AcceptInvitationResult
  readonly signRawPayloadResult?: SignRawPayloadResult
  readonly createPolicyResult?: CreatePolicyResult
  readonly disablePrivateKeyResult?: DisablePrivateKeyResult
  readonly deleteUsersResult?: DeleteUsersResult
  readonly deleteAuthenticatorsResult?: DeleteAuthenticatorsResult
  readonly deleteInvitationResult?: DeleteInvitationResult
  readonly deleteOrganizationResult?: DeleteOrganizationResult
  readonly deletePolicyResult?: DeletePolicyResult
  readonly createUserTagResult?: CreateUserTagResult
  readonly deleteUserTagsResult?: DeleteUserTagsResult
  readonly signTransactionResult?: SignTransactionResult
  readonly deleteApiKeysResult?: DeleteApiKeysResult
  readonly createApiKeysResult?: CreateApiKeysResult
  readonly createPrivateKeyTagResult?: CreatePrivateKeyTagResult
  readonly deletePrivateKeyTagsResult?: DeletePrivateKeyTagsResult
  readonly setPaymentMethodResult?: SetPaymentMethodResult
  readonly activateBillingTierResult?: ActivateBillingTierResult
  readonly deletePaymentMethodResult?: DeletePaymentMethodResult
  readonly createApiOnlyUsersResult?: CreateApiOnlyUsersResult
  readonly updateRootQuorumResult?: UpdateRootQuorumResult
  readonly updateUserTagResult?: UpdateUserTagResult
  readonly updatePrivateKeyTagResult?: UpdatePrivateKeyTagResult
  readonly createSubOrganizationResult?: CreateSubOrganizationResult
  readonly updateAllowedOriginsResult?: UpdateAllowedOriginsResult
  readonly createPrivateKeysResultV2?: CreatePrivateKeysResultV2
  readonly updateUserResult?: UpdateUserResult
  readonly updatePolicyResult?: UpdatePolicyResult
  readonly createSubOrganizationResultV3?: CreateSubOrganizationResultV3
  readonly createWalletResult?: CreateWalletResult
  readonly createWalletAccountsResult?: CreateWalletAccountsResult
  readonly initUserEmailRecoveryResult?: InitUserEmailRecoveryResult
  readonly recoverUserResult?: RecoverUserResult
  readonly setOrganizationFeatureResult?: SetOrganizationFeatureResult
  readonly removeOrganizationFeatureResult?: RemoveOrganizationFeatureResult
  readonly exportPrivateKeyResult?: ExportPrivateKeyResult
  readonly exportWalletResult?: ExportWalletResult
  readonly createSubOrganizationResultV4?: CreateSubOrganizationResultV4
  readonly emailAuthResult?: EmailAuthResult
  readonly exportWalletAccountResult?: ExportWalletAccountResult
  readonly initImportWalletResult?: InitImportWalletResult
  readonly importWalletResult?: ImportWalletResult
  readonly initImportPrivateKeyResult?: InitImportPrivateKeyResult
  readonly importPrivateKeyResult?: ImportPrivateKeyResult
  readonly createPoliciesResult?: CreatePoliciesResult
  readonly signRawPayloadsResult?: SignRawPayloadsResult
  readonly createReadOnlySessionResult?: CreateReadOnlySessionResult
  readonly createOauthProvidersResult?: CreateOauthProvidersResult
  readonly deleteOauthProvidersResult?: DeleteOauthProvidersResult
  readonly createSubOrganizationResultV5?: CreateSubOrganizationResultV5
  readonly oauthResult?: OauthResult
  readonly createReadWriteSessionResult?: CreateReadWriteSessionResult
  readonly createSubOrganizationResultV6?: CreateSubOrganizationResultV6
  readonly deletePrivateKeysResult?: DeletePrivateKeysResult
  readonly deleteWalletsResult?: DeleteWalletsResult
  readonly createReadWriteSessionResultV2?: CreateReadWriteSessionResultV2
  readonly deleteSubOrganizationResult?: DeleteSubOrganizationResult
  readonly initOtpAuthResult?: InitOtpAuthResult
  readonly otpAuthResult?: OtpAuthResult
  readonly createSubOrganizationResultV7?: CreateSubOrganizationResultV7
  readonly updateWalletResult?: UpdateWalletResult
  readonly updatePolicyResultV2?: UpdatePolicyResultV2
  readonly initOtpAuthResultV2?: InitOtpAuthResultV2
  readonly initOtpResult?: InitOtpResult
  readonly verifyOtpResult?: VerifyOtpResult
  readonly otpLoginResult?: OtpLoginResult
  readonly stampLoginResult?: StampLoginResult
  readonly oauthLoginResult?: OauthLoginResult
  readonly updateUserNameResult?: UpdateUserNameResult
  readonly updateUserEmailResult?: UpdateUserEmailResult
  readonly updateUserPhoneNumberResult?: UpdateUserPhoneNumberResult
  readonly initFiatOnRampResult?: InitFiatOnRampResult
  readonly createSmartContractInterfaceResult?: CreateSmartContractInterfaceResult
  readonly deleteSmartContractInterfaceResult?: DeleteSmartContractInterfaceResult
  readonly enableAuthProxyResult?: EnableAuthProxyResult
  readonly disableAuthProxyResult?: DisableAuthProxyResult
  readonly updateAuthProxyConfigResult?: UpdateAuthProxyConfigResult
  readonly createOauth2CredentialResult?: CreateOauth2CredentialResult
  readonly updateOauth2CredentialResult?: UpdateOauth2CredentialResult
  readonly deleteOauth2CredentialResult?: DeleteOauth2CredentialResult
  readonly oauth2AuthenticateResult?: Oauth2AuthenticateResult
  readonly deleteWalletAccountsResult?: DeleteWalletAccountsResult
  readonly deletePoliciesResult?: DeletePoliciesResult
  readonly ethSendRawTransactionResult?: EthSendRawTransactionResult
  readonly createFiatOnRampCredentialResult?: CreateFiatOnRampCredentialResult
  readonly updateFiatOnRampCredentialResult?: UpdateFiatOnRampCredentialResult
  readonly deleteFiatOnRampCredentialResult?: DeleteFiatOnRampCredentialResult
  readonly ethSendTransactionResult?: EthSendTransactionResult
  readonly upsertGasUsageConfigResult?: UpsertGasUsageConfigResult
  readonly createTvcAppResult?: CreateTvcAppResult
  readonly createTvcDeploymentResult?: CreateTvcDeploymentResult
  readonly createTvcManifestApprovalsResult?: CreateTvcManifestApprovalsResult
  readonly solSendTransactionResult?: SolSendTransactionResult
  readonly initOtpResultV2?: InitOtpResultV2
  readonly updateOrganizationNameResult?: UpdateOrganizationNameResult
  readonly createSubOrganizationResultV8?: CreateSubOrganizationResultV8
  readonly createOauthProvidersResultV2?: CreateOauthProvidersResultV2
  readonly createWebhookEndpointResult?: CreateWebhookEndpointResult
  readonly updateWebhookEndpointResult?: UpdateWebhookEndpointResult
  readonly deleteWebhookEndpointResult?: DeleteWebhookEndpointResult
  readonly setIpAllowlistResult?: SetIpAllowlistResult
  readonly removeIpAllowlistResult?: RemoveIpAllowlistResult
  readonly updateTvcAppLiveDeploymentResult?: UpdateTvcAppLiveDeploymentResult
  readonly deleteTvcDeploymentResult?: DeleteTvcDeploymentResult
  readonly deleteTvcAppAndDeploymentsResult?: DeleteTvcAppAndDeploymentsResult
  readonly restoreTvcDeploymentResult?: RestoreTvcDeploymentResult
  readonly sparkSignFrostResult?: SparkSignFrostResult
  readonly sparkPrepareTransferResult?: SparkPrepareTransferResult
  readonly sparkClaimTransferResult?: SparkClaimTransferResult
  readonly sparkPrepareLightningReceiveResult?: SparkPrepareLightningReceiveResult
  readonly postTvcQuorumKeyShareResult?: PostTvcQuorumKeyShareResult
  readonly ethSendTransactionResultV2?: EthSendTransactionResultV2
  readonly createMfaPolicyResult?: CreateMfaPolicyResult
  readonly updateMfaPolicyResult?: UpdateMfaPolicyResult
  readonly deleteMfaPolicyResult?: DeleteMfaPolicyResult
  readonly createSessionProfileResult?: CreateSessionProfileResult
  readonly earnDeployWrapperResult?: EarnDeployWrapperResult
  readonly earnDepositResult?: EarnDepositResult
  readonly earnWithdrawResult?: EarnWithdrawResult
  readonly executeSwapResult?: ExecuteSwapResult
  readonly upsertSwapConfigResult?: UpsertSwapConfigResult
  readonly createTvcOperatorResult?: CreateTvcOperatorResult
  readonly createTvcQuorumKeyResult?: CreateTvcQuorumKeyResult
  readonly reEncryptTvcQuorumKeyShareResult?: ReEncryptTvcQuorumKeyShareResult
  readonly initImportSecretsResult?: InitImportSecretsResult
  readonly solSendTransactionResultV2?: SolSendTransactionResultV2
  readonly claimSwapFeesResult?: ClaimSwapFeesResult
  readonly earnSetWrapperStateResult?: EarnSetWrapperStateResult
  readonly claimEarnFeesResult?: ClaimEarnFeesResult
  readonly updateWalletAccountNameResult?: UpdateWalletAccountNameResult
  readonly ethUndelegate7702Result?: EthUndelegate7702Result
  readonly createSwapQuoteResult?: CreateSwapQuoteResult
  readonly importSecretsResult?: ImportSecretsResult
  readonly exportSecretsResult?: ExportSecretsResult
}

export type RevertChainEntry = {
  readonly address?: string
  readonly errorType?: string
  readonly displayMessage?: string
  readonly unknown?: UnknownRevertError
  readonly native?: NativeRevertError
  readonly custom?: CustomRevertError
}

export type RootUserParams = {
  readonly userName: string
  readonly userEmail?: string
  readonly apiKeys: readonly ApiKeyParams[]
  readonly authenticators: readonly AuthenticatorParamsV2[]
}

export type RootUserParamsV2 = {
  readonly userName: string
  readonly userEmail?: string
  readonly apiKeys: readonly ApiKeyParams[]
  readonly authenticators: readonly AuthenticatorParamsV2[]
  readonly oauthProviders: readonly OauthProviderParams[]
}

export type RootUserParamsV3 = {
  readonly userName: string
  readonly userEmail?: string
  readonly apiKeys: readonly ApiKeyParamsV2[]
  readonly authenticators: readonly AuthenticatorParamsV2[]
  readonly oauthProviders: readonly OauthProviderParams[]
}

export type RootUserParamsV4 = {
  readonly userName: string
  readonly userEmail?: string
  readonly userPhoneNumber?: string
  readonly apiKeys: readonly ApiKeyParamsV2[]
  readonly authenticators: readonly AuthenticatorParamsV2[]
  readonly oauthProviders: readonly OauthProviderParams[]
}

export type RootUserParamsV5 = {
  readonly userName: string
  readonly userEmail?: string
  readonly userPhoneNumber?: string
  readonly apiKeys: readonly ApiKeyParamsV2[]
  readonly authenticators: readonly AuthenticatorParamsV2[]
  readonly oauthProviders: readonly OauthProviderParamsV2[]
}

export type SecretMetadata = {
  readonly secretId: string
  readonly name?: string
  readonly staticProperties: readonly KeyValue[]
  readonly createdAtUnixMs: string
}

export type Selector = {
  readonly subject?: string
  readonly operator?: Operator
  readonly target?: string
}

export type SelectorV2 = {
  readonly subject?: string
  readonly operator?: Operator
  readonly targets?: readonly string[]
}

export type SessionProfile = {
  readonly sessionProfileId: string
  readonly sessionProfileName: string
  readonly scope: string
  readonly expirationSeconds?: string
  readonly notes?: string
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
}

export type SetIpAllowlistIntent = {
  readonly publicKey?: string
  readonly enabled?: boolean
  readonly rules?: readonly IpAllowlistIntentRule[]
  readonly onEvaluationError?: string
}

export type SetIpAllowlistResult = { readonly [member: string]: never }

export type SetOrganizationFeatureIntent = {
  readonly name: FeatureName
  readonly value?: string
}

export type SetOrganizationFeatureResult = {
  readonly features: readonly Feature[]
}

export type SetPaymentMethodIntent = {
  readonly number: string
  readonly cvv: string
  readonly expiryMonth: string
  readonly expiryYear: string
  readonly cardHolderEmail: string
  readonly cardHolderName: string
}

export type SetPaymentMethodIntentV2 = {
  readonly paymentMethodId: string
  readonly cardHolderEmail: string
  readonly cardHolderName: string
}

export type SetPaymentMethodResult = {
  readonly lastFour: string
  readonly cardHolderName: string
  readonly cardHolderEmail: string
}

export type SignRawPayloadIntent = {
  readonly privateKeyId: string
  readonly payload: string
  readonly encoding: PayloadEncoding
  readonly hashFunction: HashFunction
}

export type SignRawPayloadIntentV2 = {
  readonly signWith: string
  readonly payload: string
  readonly encoding: PayloadEncoding
  readonly hashFunction: HashFunction
}

export type SignRawPayloadResult = {
  readonly r: string
  readonly s: string
  readonly v: string
}

export type SignRawPayloadsIntent = {
  readonly signWith: string
  readonly payloads: readonly string[]
  readonly encoding: PayloadEncoding
  readonly hashFunction: HashFunction
}

export type SignRawPayloadsResult = {
  readonly signatures?: readonly SignRawPayloadResult[]
}

export type SignTransactionIntent = {
  readonly privateKeyId: string
  readonly unsignedTransaction: string
  readonly type: TransactionType
}

export type SignTransactionIntentV2 = {
  readonly signWith: string
  readonly unsignedTransaction: string
  readonly type: TransactionType
}

export type SignTransactionResult = {
  readonly signedTransaction: string
}

export type SimpleClientExtensionResults = {
  readonly appid?: boolean
  readonly appidExclude?: boolean
  readonly credProps?: CredPropsAuthenticationExtensionsClientOutputs
}

export type SmsCustomizationParams = {
  readonly template?: string
}

export type SolSendTransactionIntent = {
  readonly unsignedTransaction: string
  readonly signWith: string
  readonly sponsor?: boolean
  readonly caip2: 'solana:mainnet' | 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' | 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d' | 'solana:devnet' | 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1' | 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG'
  readonly recentBlockhash?: string
}

export type SolSendTransactionIntentV2 = {
  readonly unsignedTransaction: string
  readonly signWiths: readonly string[]
  readonly sponsor?: boolean
  readonly caip2: 'solana:mainnet' | 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' | 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d' | 'solana:devnet' | 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1' | 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG'
  readonly recentBlockhash?: string
}

export type SolSendTransactionResult = {
  readonly sendTransactionStatusId: string
}

export type SolSendTransactionResultV2 = {
  readonly sendTransactionStatusId: string
}

export type SolTransactionHistoryItem = {
  readonly signature: string
  readonly block: TransactionHistoryBlock
  readonly status: 'CONFIRMED' | 'FINALIZED'
  readonly origin: string
  readonly feePayer: string
  readonly signers: readonly SolTransactionHistorySigner[]
  readonly fee: TransactionHistoryFee
  readonly transfers: readonly TransactionHistoryTransfer[]
  readonly turnkey?: TransactionHistoryTurnkey
}

export type SolTransactionHistorySigner = {
  readonly address: string
  readonly writable: boolean
}

export type SolanaConfig = {
  readonly rentPrefundEnabled?: boolean
}

export type SolanaFailureDetails = {
  readonly source?: string
  readonly rpcCode?: number
  readonly rpcMessage?: string
  readonly transactionErrorJson?: string
  readonly logs?: readonly string[]
  readonly unitsConsumed?: string
  readonly innerInstructionsJson?: string
}

export type SolanaSendTransactionStatus = {
  readonly signature?: string
}

export type SparkClaimLeaf = {
  readonly leafId: string
  readonly ciphertext: string
  readonly senderSignature: string
}

export type SparkClaimPackage = {
  readonly leaves: readonly SparkClaimLeaf[]
  readonly threshold: number
  readonly operatorRecipients: readonly SparkOperatorRecipient[]
  readonly transferId: string
  readonly senderIdentityPublicKey: string
}

export type SparkClaimTransferIntent = {
  readonly signWith: string
  readonly claim: SparkClaimPackage
}

export type SparkClaimTransferResult = {
  readonly operatorPackages: readonly SparkEncryptedOperatorPackage[]
  readonly newLeafPublicKeys: readonly SparkLeafPublicKey[]
}

export type SparkDepositDerivation = { readonly [member: string]: never }

export type SparkEncryptedOperatorPackage = {
  readonly operatorId: string
  readonly encryptedPackage: string
}

export type SparkFrostCommitment = {
  readonly id: string
  readonly hiding: string
  readonly binding: string
}

export type SparkHtlcPreimageDerivation = { readonly [member: string]: never }

export type SparkIdentityDerivation = { readonly [member: string]: never }

export type SparkKeyDerivation = {
  readonly identity?: SparkIdentityDerivation
  readonly signingLeaf?: SparkSigningLeafDerivation
  readonly deposit?: SparkDepositDerivation
  readonly staticDeposit?: SparkStaticDepositDerivation
  readonly htlcPreimage?: SparkHtlcPreimageDerivation
}

export type SparkLeafPublicKey = {
  readonly leafId: string
  readonly publicKey: string
}

export type SparkLightningReceivePackage = {
  readonly threshold: number
  readonly operatorRecipients: readonly SparkOperatorRecipient[]
}

export type SparkOperatorRecipient = {
  readonly operatorId: string
  readonly encryptionPublicKey: string
}

export type SparkPartialSignature = {
  readonly signatureShare: string
  readonly hiding: string
  readonly binding: string
}

export type SparkPrepareLightningReceiveIntent = {
  readonly signWith: string
  readonly lightningReceive: SparkLightningReceivePackage
}

export type SparkPrepareLightningReceiveResult = {
  readonly operatorPackages: readonly SparkEncryptedOperatorPackage[]
  readonly paymentHash: string
}

export type SparkPrepareTransferIntent = {
  readonly signWith: string
  readonly transfer: SparkTransferPackage
}

export type SparkPrepareTransferResult = {
  readonly operatorPackages: readonly SparkEncryptedOperatorPackage[]
  readonly transferUserSignature: string
  readonly newLeafPublicKeys: readonly SparkLeafPublicKey[]
}

export type SparkSignFrostIntent = {
  readonly signWith: string
  readonly signatures: readonly SparkSignatureRequest[]
}

export type SparkSignFrostResult = {
  readonly signatures: readonly SparkPartialSignature[]
}

export type SparkSignatureRequest = {
  readonly derivation: SparkKeyDerivation
  readonly message: string
  readonly verifyingKey: string
  readonly operatorCommitments: readonly SparkFrostCommitment[]
  readonly adaptorPublicKey?: string
}

export type SparkSigningLeafDerivation = {
  readonly leafId: string
}

export type SparkStaticDepositDerivation = {
  readonly index: number
}

export type SparkTransferLeaf = {
  readonly leafId: string
  readonly oldLeafDerivation: SparkKeyDerivation
  readonly newLeafDerivation: SparkKeyDerivation
  readonly refundSignature?: string
  readonly directRefundSignature?: string
  readonly directFromCpfpRefundSignature?: string
}

export type SparkTransferPackage = {
  readonly transferId: string
  readonly leaves: readonly SparkTransferLeaf[]
  readonly threshold: number
  readonly operatorRecipients: readonly SparkOperatorRecipient[]
  readonly receiverPublicKey: string
}

export type StampLoginIntent = {
  readonly publicKey: string
  readonly expirationSeconds?: string
  readonly invalidateExisting?: boolean
  readonly sessionProfileId?: string
}

export type StampLoginResult = {
  readonly session: string
}

export type Status = {
  readonly code?: number
  readonly message?: string
  readonly details?: readonly Any[]
}

export type SwapError = {
  readonly reason: string
  readonly message: string
  readonly originTxError?: TxError
  readonly providerReason?: string
}

export type SwapQuote = {
  readonly quoteId: string
  readonly provider: string
  readonly outputAmount: string
  readonly minOutputAmount: string
  readonly expiresAt: string
  readonly slippageBps?: string
  readonly clientFeeBps: string
  readonly estimatedTimeSeconds?: string
}

export type SwapRefund = {
  readonly asset: string
  readonly amount: string
  readonly txHash?: string
}

export type Timestamp = {
  readonly seconds: string
  readonly nanos: string
}

export type TransactionHistoryAsset = {
  readonly caip19: string
  readonly symbol: string
  readonly name: string
  readonly decimals: number
}

export type TransactionHistoryBlock = {
  readonly number: string
  readonly hash: string
  readonly timestamp: string
}

export type TransactionHistoryDisplay = {
  readonly crypto?: string
  readonly usd?: string
}

export type TransactionHistoryFee = {
  readonly amount: string
  readonly caip19: string
}

export type TransactionHistoryTransfer = {
  readonly direction: 'IN' | 'OUT'
  readonly asset?: TransactionHistoryAsset
  readonly amount: string
  readonly counterparty: string
  readonly display?: TransactionHistoryDisplay
}

export type TransactionHistoryTurnkey = {
  readonly sponsored: boolean
  readonly activityFingerprint?: string
  readonly submittedAt?: string
}

export type TvcApp = {
  readonly id: string
  readonly organizationId: string
  readonly name: string
  readonly quorumPublicKey: string
  readonly manifestSet: TvcOperatorSet
  readonly shareSet: TvcOperatorSet
  readonly enableEgress: boolean
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
  readonly liveDeploymentId?: string
  readonly publicDomain: string
  readonly enableDebugModeDeployments: boolean
}

export type TvcContainerSpec = {
  readonly containerUrl: string
  readonly path: string
  readonly args: readonly string[]
  readonly hasPullSecret: boolean
  readonly healthCheckType: TvcHealthCheckType
  readonly healthCheckPort: number
  readonly publicIngressPort: number
}

export type TvcDeployment = {
  readonly id: string
  readonly organizationId: string
  readonly appId: string
  readonly manifestSet: TvcOperatorSet
  readonly shareSet: TvcOperatorSet
  readonly manifest: TvcManifest
  readonly manifestApprovals: readonly TvcOperatorApproval[]
  readonly qosVersion: string
  readonly pivotContainer: TvcContainerSpec
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
  readonly delete: boolean
  readonly debugMode: boolean
}

export type TvcDeploymentDebugLogEntry = {
  readonly line: LogLine
  readonly replicaLabel: string
}

export type TvcManifest = {
  readonly id: string
  readonly manifest: string
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
}

export type TvcManifestApproval = {
  readonly operatorId: string
  readonly signature: string
}

export type TvcOperator = {
  readonly id: string
  readonly name: string
  readonly publicKey: string
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
}

export type TvcOperatorApproval = {
  readonly id: string
  readonly manifestId: string
  readonly operator: TvcOperator
  readonly approval: string
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
}

export type TvcOperatorParams = {
  readonly name: string
  readonly publicKey: string
}

export type TvcOperatorSet = {
  readonly id: string
  readonly name: string
  readonly organizationId: string
  readonly operators: readonly TvcOperator[]
  readonly threshold: number
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
}

export type TvcOperatorSetParams = {
  readonly name: string
  readonly newOperators?: readonly TvcOperatorParams[]
  readonly existingOperatorIds?: readonly string[]
  readonly threshold: number
}

export type TxError = {
  readonly message?: string
  readonly revertChain?: readonly RevertChainEntry[]
  readonly solana?: SolanaFailureDetails
  readonly eth?: EthFailureDetails
}

export type UnknownRevertError = {
  readonly selector?: string
  readonly data?: string
}

export type UpdateAllowedOriginsIntent = {
  readonly allowedOrigins: readonly string[]
}

export type UpdateAllowedOriginsResult = { readonly [member: string]: never }

export type UpdateAuthProxyConfigIntent = {
  readonly allowedOrigins?: readonly string[]
  readonly allowedAuthMethods?: readonly string[]
  readonly sendFromEmailAddress?: string
  readonly replyToEmailAddress?: string
  readonly emailAuthTemplateId?: string
  readonly otpTemplateId?: string
  readonly emailCustomizationParams?: EmailCustomizationParams
  readonly smsCustomizationParams?: SmsCustomizationParams
  readonly walletKitSettings?: WalletKitSettingsParams
  readonly otpExpirationSeconds?: number
  readonly verificationTokenExpirationSeconds?: number
  readonly sessionExpirationSeconds?: number
  readonly otpAlphanumeric?: boolean
  readonly otpLength?: number
  readonly sendFromEmailSenderName?: string
  readonly verificationTokenRequiredForGetAccountPii?: boolean
  readonly socialLinkingClientIds?: readonly string[]
  readonly captchaEnabled?: boolean
}

export type UpdateAuthProxyConfigResult = {
  readonly configId?: string
}

export type UpdateFiatOnRampCredentialIntent = {
  readonly fiatOnrampCredentialId: string
  readonly onrampProvider: FiatOnRampProvider
  readonly projectId?: string
  readonly publishableApiKey: string
  readonly encryptedSecretApiKey: string
  readonly encryptedPrivateApiKey?: string
}

export type UpdateFiatOnRampCredentialResult = {
  readonly fiatOnRampCredentialId: string
}

export type UpdateMfaPolicyIntent = {
  readonly userId: string
  readonly mfaPolicyId: string
  readonly mfaPolicyName?: string
  readonly condition?: string
  readonly requiredAuthenticationMethods?: readonly RequiredAuthenticationMethodParams[]
  readonly order?: number
  readonly notes?: string
}

export type UpdateMfaPolicyResult = {
  readonly mfaPolicyId: string
}

export type UpdateOauth2CredentialIntent = {
  readonly oauth2CredentialId: string
  readonly provider: Oauth2Provider
  readonly clientId: string
  readonly encryptedClientSecret: string
}

export type UpdateOauth2CredentialResult = {
  readonly oauth2CredentialId: string
}

export type UpdateOrganizationNameIntent = {
  readonly organizationName: string
}

export type UpdateOrganizationNameResult = {
  readonly organizationId: string
  readonly organizationName: string
}

export type UpdatePolicyIntent = {
  readonly policyId: string
  readonly policyName?: string
  readonly policyEffect?: Effect
  readonly policyCondition?: string
  readonly policyConsensus?: string
  readonly policyNotes?: string
}

export type UpdatePolicyIntentV2 = {
  readonly policyId: string
  readonly policyName?: string
  readonly policyEffect?: Effect
  readonly policyCondition?: string
  readonly policyConsensus?: string
  readonly policyNotes?: string
  readonly time?: string
}

export type UpdatePolicyResult = {
  readonly policyId: string
}

export type UpdatePolicyResultV2 = {
  readonly policyId: string
}

export type UpdatePrivateKeyTagIntent = {
  readonly privateKeyTagId: string
  readonly newPrivateKeyTagName?: string
  readonly addPrivateKeyIds: readonly string[]
  readonly removePrivateKeyIds: readonly string[]
}

export type UpdatePrivateKeyTagResult = {
  readonly privateKeyTagId: string
}

export type UpdateRootQuorumIntent = {
  readonly threshold: number
  readonly userIds: readonly string[]
}

export type UpdateRootQuorumResult = { readonly [member: string]: never }

export type UpdateTvcAppLiveDeploymentIntent = {
  readonly deploymentId: string
}

export type UpdateTvcAppLiveDeploymentResult = { readonly [member: string]: never }

export type UpdateUserEmailIntent = {
  readonly userId: string
  readonly userEmail?: string
  readonly verificationToken?: string
}

export type UpdateUserEmailResult = {
  readonly userId: string
}

export type UpdateUserIntent = {
  readonly userId: string
  readonly userName?: string
  readonly userEmail?: string
  readonly userTagIds?: readonly string[]
  readonly userPhoneNumber?: string
}

export type UpdateUserNameIntent = {
  readonly userId: string
  readonly userName: string
}

export type UpdateUserNameResult = {
  readonly userId: string
}

export type UpdateUserPhoneNumberIntent = {
  readonly userId: string
  readonly userPhoneNumber?: string
  readonly verificationToken?: string
}

export type UpdateUserPhoneNumberResult = {
  readonly userId: string
}

export type UpdateUserResult = {
  readonly userId: string
}

export type UpdateUserTagIntent = {
  readonly userTagId: string
  readonly newUserTagName?: string
  readonly addUserIds: readonly string[]
  readonly removeUserIds: readonly string[]
}

export type UpdateUserTagResult = {
  readonly userTagId: string
}

export type UpdateWalletAccountNameIntent = {
  readonly walletAccountId: string
  readonly name: string
}

export type UpdateWalletAccountNameResult = {
  readonly walletAccountId: string
}

export type UpdateWalletIntent = {
  readonly walletId: string
  readonly walletName?: string
}

export type UpdateWalletResult = {
  readonly walletId: string
}

export type UpdateWebhookEndpointIntent = {
  readonly endpointId: string
  readonly url?: string
  readonly name?: string
  readonly isActive?: boolean
}

export type UpdateWebhookEndpointResult = {
  readonly endpointId: string
  readonly webhookEndpoint: WebhookEndpointData
}

export type UpsertGasUsageConfigIntent = {
  readonly orgWindowLimitUsd: string
  readonly subOrgWindowLimitUsd: string
  readonly windowDurationMinutes: string
  readonly enabled?: boolean
  readonly solanaConfig?: SolanaConfig
}

export type UpsertGasUsageConfigResult = {
  readonly gasUsageConfigId: string
}

export type UpsertSwapConfigIntent = {
  readonly feeReceiverWalletAddress?: string
  readonly feeBps?: string
  readonly stableFeeBps?: string
}

export type UpsertSwapConfigResult = {
  readonly feeReceiverWalletAddress?: string
  readonly feeBps?: string
  readonly stableFeeBps?: string
}

export type User = {
  readonly userId: string
  readonly userName: string
  readonly userEmail?: string
  readonly userPhoneNumber?: string
  readonly authenticators: readonly Authenticator[]
  readonly apiKeys: readonly ApiKey[]
  readonly userTags: readonly string[]
  readonly oauthProviders: readonly OauthProvider[]
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
  readonly mfaPolicies: readonly MfaPolicy[]
}

export type UserParams = {
  readonly userName: string
  readonly userEmail?: string
  readonly accessType: AccessType
  readonly apiKeys: readonly ApiKeyParams[]
  readonly authenticators: readonly AuthenticatorParams[]
  readonly userTags: readonly string[]
}

export type UserParamsV2 = {
  readonly userName: string
  readonly userEmail?: string
  readonly apiKeys: readonly ApiKeyParams[]
  readonly authenticators: readonly AuthenticatorParamsV2[]
  readonly userTags: readonly string[]
}

export type UserParamsV3 = {
  readonly userName: string
  readonly userEmail?: string
  readonly userPhoneNumber?: string
  readonly apiKeys: readonly ApiKeyParamsV2[]
  readonly authenticators: readonly AuthenticatorParamsV2[]
  readonly oauthProviders: readonly OauthProviderParams[]
  readonly userTags: readonly string[]
}

export type UserParamsV4 = {
  readonly userName: string
  readonly userEmail?: string
  readonly userPhoneNumber?: string
  readonly apiKeys: readonly ApiKeyParamsV2[]
  readonly authenticators: readonly AuthenticatorParamsV2[]
  readonly oauthProviders: readonly OauthProviderParamsV2[]
  readonly userTags: readonly string[]
}

export type ValidateTvcImageRequest = {
  readonly organizationId: string
  readonly pivotContainerImageUrl: string
  readonly pivotContainerEncryptedPullSecret?: string
}

export type ValidateTvcImageResponse = {
  readonly resolvedImageDigest?: string
}

export type VerifyOtpIntent = {
  readonly otpId: string
  readonly otpCode: string
  readonly expirationSeconds?: string
  readonly publicKey?: string
}

export type VerifyOtpIntentV2 = {
  readonly otpId: string
  readonly encryptedOtpBundle: string
  readonly expirationSeconds?: string
}

export type VerifyOtpResult = {
  readonly verificationToken: string
}

export type Vote = {
  readonly id: string
  readonly userId: string
  readonly user: User
  readonly activityId: string
  readonly selection: 'VOTE_SELECTION_APPROVED' | 'VOTE_SELECTION_REJECTED'
  readonly message: string
  readonly publicKey: string
  readonly signature: string
  readonly scheme: string
  readonly createdAt: Timestamp
}

export type Wallet = {
  readonly walletId: string
  readonly walletName: string
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
  readonly exported: boolean
  readonly imported: boolean
}

export type WalletAccount = {
  readonly walletAccountId: string
  readonly organizationId: string
  readonly walletId: string
  readonly curve: Curve
  readonly pathFormat: PathFormat
  readonly path: string
  readonly addressFormat: AddressFormat
  readonly address: string
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
  readonly publicKey?: string
  readonly walletDetails?: Wallet
  readonly name?: string
  readonly caip2Prefix?: string
}

export type WalletAccountParams = {
  readonly curve: Curve
  readonly pathFormat: PathFormat
  readonly path: string
  readonly addressFormat: AddressFormat
  readonly name?: string
}

export type WalletKitSettingsParams = {
  readonly enabledSocialProviders?: readonly string[]
  readonly oauthClientIds?: { readonly [key: string]: string }
  readonly oauthRedirectUrl?: string
}

export type WalletParams = {
  readonly walletName: string
  readonly accounts: readonly WalletAccountParams[]
  readonly mnemonicLength?: number
}

export type WalletResult = {
  readonly walletId: string
  readonly addresses: readonly string[]
}

export type WebhookEndpointData = {
  readonly endpointId: string
  readonly organizationId: string
  readonly url: string
  readonly name: string
  readonly isActive: boolean
  readonly subscriptions?: readonly WebhookSubscriptionParams[]
}

export type WebhookSubscriptionParams = {
  readonly eventType: string
  readonly filtersJson?: string
  readonly isActive?: boolean
}

export type GetAccountRequest = {
  readonly filterType: string
  readonly filterValue: string
  readonly verificationToken?: string
  readonly oidcToken?: string
}

export type GetAccountResponse = {
  readonly organizationId?: string
}

export type GetWalletKitClientParamsRequest = { readonly [member: string]: never }

export type GetWalletKitClientParamsResponse = {
  readonly turnstileSiteKey?: string
}

export type GetWalletKitConfigRequest = { readonly [member: string]: never }

export type GetWalletKitConfigResponse = {
  readonly enabledProviders: readonly string[]
  readonly sessionExpirationSeconds: string
  readonly organizationId: string
  readonly oauthClientIds?: { readonly [key: string]: string }
  readonly oauthRedirectUrl?: string
  readonly otpAlphanumeric?: boolean
  readonly otpLength?: string
}

export type InitOtpRequest = {
  readonly otpType: string
  readonly contact: string
  readonly emailCustomization?: ProxyEmailCustomizationParams
}

export type InitOtpResponse = {
  readonly otpId: string
}

export type InitOtpV2Request = {
  readonly otpType: string
  readonly contact: string
  readonly emailCustomization?: ProxyEmailCustomizationParams
}

export type InitOtpV2Response = {
  readonly otpId: string
  readonly otpEncryptionTargetBundle: string
}

export type OAuth2AuthenticateRequest = {
  readonly provider: Oauth2Provider
  readonly authCode: string
  readonly redirectUri: string
  readonly codeVerifier: string
  readonly nonce: string
  readonly clientId: string
}

export type OAuth2AuthenticateResponse = {
  readonly oidcToken: string
}

export type OAuthLoginRequest = {
  readonly oidcToken: string
  readonly publicKey: string
  readonly invalidateExisting?: boolean
  readonly organizationId?: string
}

export type OAuthLoginResponse = {
  readonly session: string
}

export type OtpLoginRequest = {
  readonly verificationToken: string
  readonly publicKey: string
  readonly invalidateExisting?: boolean
  readonly organizationId?: string
  readonly clientSignature?: ClientSignature
}

export type OtpLoginResponse = {
  readonly session: string
}

export type OtpLoginV2Request = {
  readonly verificationToken: string
  readonly publicKey: string
  readonly clientSignature: ClientSignature
  readonly invalidateExisting?: boolean
  readonly organizationId?: string
}

export type OtpLoginV2Response = {
  readonly session: string
}

export type ProxyEmailCustomizationParams = {
  readonly templateId?: string
}

export type SignupRequest = {
  readonly userEmail?: string
  readonly userPhoneNumber?: string
  readonly userTag?: string
  readonly userName?: string
  readonly organizationName?: string
  readonly verificationToken?: string
  readonly apiKeys: readonly ApiKeyParamsV2[]
  readonly authenticators: readonly AuthenticatorParamsV2[]
  readonly oauthProviders: readonly OauthProviderParams[]
  readonly wallet?: WalletParams
  readonly clientSignature?: ClientSignature
}

export type SignupResponse = {
  readonly organizationId: string
  readonly wallet?: WalletResult
  readonly userId: string
  readonly appProofs?: readonly AppProof[]
}

export type SignupV2Request = {
  readonly userEmail?: string
  readonly userPhoneNumber?: string
  readonly userTag?: string
  readonly userName?: string
  readonly organizationName?: string
  readonly verificationToken?: string
  readonly apiKeys: readonly ApiKeyParamsV2[]
  readonly authenticators: readonly AuthenticatorParamsV2[]
  readonly oauthProviders: readonly OauthProviderParamsV2[]
  readonly wallet?: WalletParams
  readonly clientSignature?: ClientSignature
}

export type SignupV2Response = {
  readonly organizationId: string
  readonly wallet?: WalletResult
  readonly userId: string
  readonly appProofs?: readonly AppProof[]
}

export type VerifyOtpRequest = {
  readonly otpId: string
  readonly otpCode: string
  readonly publicKey?: string
}

export type VerifyOtpResponse = {
  readonly verificationToken: string
}

export type VerifyOtpV2Request = {
  readonly otpId: string
  readonly encryptedOtpBundle: string
}

export type VerifyOtpV2Response = {
  readonly verificationToken: string
}

export type Tag = {
  readonly tagId: string
  readonly tagName: string
  readonly tagType: TagType
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
}

export type Address = {
  readonly format?: AddressFormat
  readonly address?: string
}

export type PolicyEvaluation = {
  readonly id: string
  readonly activityId: string
  readonly organizationId: string
  readonly voteId: string
  readonly policyEvaluations: readonly PolicyOutcome[]
  readonly createdAt: Timestamp
}

export type PolicyOutcome = {
  readonly policyId?: string
  readonly outcome?: Outcome
}

export type SmartContractInterface = {
  readonly organizationId: string
  readonly smartContractInterfaceId: string
  readonly smartContractAddress: string
  readonly smartContractInterface: string
  readonly type: string
  readonly label: string
  readonly notes: string
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
}

export type SmartContractInterfaceReference = {
  readonly smartContractInterfaceId?: string
  readonly smartContractAddress?: string
  readonly digest?: string
}

export type Invitation = {
  readonly invitationId: string
  readonly receiverUserName: string
  readonly receiverUserEmail: string
  readonly receiverUserTags: readonly string[]
  readonly accessType: AccessType
  readonly status: InvitationStatus
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
  readonly senderUserId: string
}

export type GetOrganizationRequest = {
  readonly organizationId: string
}

export type GetOrganizationResponse = {
  readonly organizationData: OrganizationData
}

export type OrganizationData = {
  readonly organizationId: string
  readonly name: string
  readonly users: readonly User[]
  readonly policies: readonly Policy[]
  readonly privateKeys: readonly PrivateKey[]
  readonly invitations: readonly Invitation[]
  readonly tags: readonly Tag[]
  readonly rootQuorum: Quorum
  readonly features: readonly Feature[]
  readonly wallets: readonly Wallet[]
  readonly smartContractInterfaceReferences: readonly SmartContractInterfaceReference[]
}

/** The intent of each activity type. */
export type ActivityIntents = {
  readonly ACTIVITY_TYPE_CREATE_API_KEYS: CreateApiKeysIntent
  readonly ACTIVITY_TYPE_CREATE_USERS: CreateUsersIntent
  readonly ACTIVITY_TYPE_CREATE_PRIVATE_KEYS: CreatePrivateKeysIntent
  readonly ACTIVITY_TYPE_SIGN_RAW_PAYLOAD: SignRawPayloadIntent
  readonly ACTIVITY_TYPE_CREATE_INVITATIONS: CreateInvitationsIntent
  readonly ACTIVITY_TYPE_ACCEPT_INVITATION: AcceptInvitationIntent
  readonly ACTIVITY_TYPE_CREATE_POLICY: CreatePolicyIntent
  readonly ACTIVITY_TYPE_DISABLE_PRIVATE_KEY: DisablePrivateKeyIntent
  readonly ACTIVITY_TYPE_DELETE_USERS: DeleteUsersIntent
  readonly ACTIVITY_TYPE_DELETE_API_KEYS: DeleteApiKeysIntent
  readonly ACTIVITY_TYPE_DELETE_INVITATION: DeleteInvitationIntent
  readonly ACTIVITY_TYPE_DELETE_ORGANIZATION: DeleteOrganizationIntent
  readonly ACTIVITY_TYPE_DELETE_POLICY: DeletePolicyIntent
  readonly ACTIVITY_TYPE_CREATE_USER_TAG: CreateUserTagIntent
  readonly ACTIVITY_TYPE_DELETE_USER_TAGS: DeleteUserTagsIntent
  readonly ACTIVITY_TYPE_CREATE_ORGANIZATION: CreateOrganizationIntent
  readonly ACTIVITY_TYPE_SIGN_TRANSACTION: SignTransactionIntent
  readonly ACTIVITY_TYPE_APPROVE_ACTIVITY: ApproveActivityIntent
  readonly ACTIVITY_TYPE_REJECT_ACTIVITY: RejectActivityIntent
  readonly ACTIVITY_TYPE_DELETE_AUTHENTICATORS: DeleteAuthenticatorsIntent
  readonly ACTIVITY_TYPE_CREATE_AUTHENTICATORS: CreateAuthenticatorsIntent
  readonly ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG: CreatePrivateKeyTagIntent
  readonly ACTIVITY_TYPE_DELETE_PRIVATE_KEY_TAGS: DeletePrivateKeyTagsIntent
  readonly ACTIVITY_TYPE_SET_PAYMENT_METHOD: SetPaymentMethodIntent
  readonly ACTIVITY_TYPE_ACTIVATE_BILLING_TIER: ActivateBillingTierIntent
  readonly ACTIVITY_TYPE_DELETE_PAYMENT_METHOD: DeletePaymentMethodIntent
  readonly ACTIVITY_TYPE_CREATE_POLICY_V2: CreatePolicyIntentV2
  readonly ACTIVITY_TYPE_CREATE_POLICY_V3: CreatePolicyIntentV3
  readonly ACTIVITY_TYPE_CREATE_API_ONLY_USERS: CreateApiOnlyUsersIntent
  readonly ACTIVITY_TYPE_UPDATE_ROOT_QUORUM: UpdateRootQuorumIntent
  readonly ACTIVITY_TYPE_UPDATE_USER_TAG: UpdateUserTagIntent
  readonly ACTIVITY_TYPE_UPDATE_PRIVATE_KEY_TAG: UpdatePrivateKeyTagIntent
  readonly ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2: CreateAuthenticatorsIntentV2
  readonly ACTIVITY_TYPE_CREATE_ORGANIZATION_V2: CreateOrganizationIntentV2
  readonly ACTIVITY_TYPE_CREATE_USERS_V2: CreateUsersIntentV2
  readonly ACTIVITY_TYPE_ACCEPT_INVITATION_V2: AcceptInvitationIntentV2
  readonly ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION: CreateSubOrganizationIntent
  readonly ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V2: CreateSubOrganizationIntentV2
  readonly ACTIVITY_TYPE_UPDATE_ALLOWED_ORIGINS: UpdateAllowedOriginsIntent
  readonly ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2: CreatePrivateKeysIntentV2
  readonly ACTIVITY_TYPE_UPDATE_USER: UpdateUserIntent
  readonly ACTIVITY_TYPE_UPDATE_POLICY: UpdatePolicyIntent
  readonly ACTIVITY_TYPE_SET_PAYMENT_METHOD_V2: SetPaymentMethodIntentV2
  readonly ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V3: CreateSubOrganizationIntentV3
  readonly ACTIVITY_TYPE_CREATE_WALLET: CreateWalletIntent
  readonly ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS: CreateWalletAccountsIntent
  readonly ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY: InitUserEmailRecoveryIntent
  readonly ACTIVITY_TYPE_RECOVER_USER: RecoverUserIntent
  readonly ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE: SetOrganizationFeatureIntent
  readonly ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE: RemoveOrganizationFeatureIntent
  readonly ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2: SignRawPayloadIntentV2
  readonly ACTIVITY_TYPE_SIGN_TRANSACTION_V2: SignTransactionIntentV2
  readonly ACTIVITY_TYPE_EXPORT_PRIVATE_KEY: ExportPrivateKeyIntent
  readonly ACTIVITY_TYPE_EXPORT_WALLET: ExportWalletIntent
  readonly ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V4: CreateSubOrganizationIntentV4
  readonly ACTIVITY_TYPE_EMAIL_AUTH: EmailAuthIntent
  readonly ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT: ExportWalletAccountIntent
  readonly ACTIVITY_TYPE_INIT_IMPORT_WALLET: InitImportWalletIntent
  readonly ACTIVITY_TYPE_IMPORT_WALLET: ImportWalletIntent
  readonly ACTIVITY_TYPE_INIT_IMPORT_PRIVATE_KEY: InitImportPrivateKeyIntent
  readonly ACTIVITY_TYPE_IMPORT_PRIVATE_KEY: ImportPrivateKeyIntent
  readonly ACTIVITY_TYPE_CREATE_POLICIES: CreatePoliciesIntent
  readonly ACTIVITY_TYPE_SIGN_RAW_PAYLOADS: SignRawPayloadsIntent
  readonly ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION: CreateReadOnlySessionIntent
  readonly ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS: CreateOauthProvidersIntent
  readonly ACTIVITY_TYPE_DELETE_OAUTH_PROVIDERS: DeleteOauthProvidersIntent
  readonly ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V5: CreateSubOrganizationIntentV5
  readonly ACTIVITY_TYPE_OAUTH: OauthIntent
  readonly ACTIVITY_TYPE_CREATE_API_KEYS_V2: CreateApiKeysIntentV2
  readonly ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION: CreateReadWriteSessionIntent
  readonly ACTIVITY_TYPE_EMAIL_AUTH_V2: EmailAuthIntentV2
  readonly ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V6: CreateSubOrganizationIntentV6
  readonly ACTIVITY_TYPE_DELETE_PRIVATE_KEYS: DeletePrivateKeysIntent
  readonly ACTIVITY_TYPE_DELETE_WALLETS: DeleteWalletsIntent
  readonly ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2: CreateReadWriteSessionIntentV2
  readonly ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION: DeleteSubOrganizationIntent
  readonly ACTIVITY_TYPE_INIT_OTP_AUTH: InitOtpAuthIntent
  readonly ACTIVITY_TYPE_OTP_AUTH: OtpAuthIntent
  readonly ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7: CreateSubOrganizationIntentV7
  readonly ACTIVITY_TYPE_UPDATE_WALLET: UpdateWalletIntent
  readonly ACTIVITY_TYPE_UPDATE_POLICY_V2: UpdatePolicyIntentV2
  readonly ACTIVITY_TYPE_CREATE_USERS_V3: CreateUsersIntentV3
  readonly ACTIVITY_TYPE_INIT_OTP_AUTH_V2: InitOtpAuthIntentV2
  readonly ACTIVITY_TYPE_INIT_OTP: InitOtpIntent
  readonly ACTIVITY_TYPE_VERIFY_OTP: VerifyOtpIntent
  readonly ACTIVITY_TYPE_OTP_LOGIN: OtpLoginIntent
  readonly ACTIVITY_TYPE_STAMP_LOGIN: StampLoginIntent
  readonly ACTIVITY_TYPE_OAUTH_LOGIN: OauthLoginIntent
  readonly ACTIVITY_TYPE_UPDATE_USER_NAME: UpdateUserNameIntent
  readonly ACTIVITY_TYPE_UPDATE_USER_EMAIL: UpdateUserEmailIntent
  readonly ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER: UpdateUserPhoneNumberIntent
  readonly ACTIVITY_TYPE_INIT_FIAT_ON_RAMP: InitFiatOnRampIntent
  readonly ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE: CreateSmartContractInterfaceIntent
  readonly ACTIVITY_TYPE_DELETE_SMART_CONTRACT_INTERFACE: DeleteSmartContractInterfaceIntent
  readonly ACTIVITY_TYPE_ENABLE_AUTH_PROXY: EnableAuthProxyIntent
  readonly ACTIVITY_TYPE_DISABLE_AUTH_PROXY: DisableAuthProxyIntent
  readonly ACTIVITY_TYPE_UPDATE_AUTH_PROXY_CONFIG: UpdateAuthProxyConfigIntent
  readonly ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL: CreateOauth2CredentialIntent
  readonly ACTIVITY_TYPE_UPDATE_OAUTH2_CREDENTIAL: UpdateOauth2CredentialIntent
  readonly ACTIVITY_TYPE_DELETE_OAUTH2_CREDENTIAL: DeleteOauth2CredentialIntent
  readonly ACTIVITY_TYPE_OAUTH2_AUTHENTICATE: Oauth2AuthenticateIntent
  readonly ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS: DeleteWalletAccountsIntent
  readonly ACTIVITY_TYPE_DELETE_POLICIES: DeletePoliciesIntent
  readonly ACTIVITY_TYPE_ETH_SEND_RAW_TRANSACTION: EthSendRawTransactionIntent
  readonly ACTIVITY_TYPE_ETH_SEND_TRANSACTION: EthSendTransactionIntent
  readonly ACTIVITY_TYPE_CREATE_FIAT_ON_RAMP_CREDENTIAL: CreateFiatOnRampCredentialIntent
  readonly ACTIVITY_TYPE_UPDATE_FIAT_ON_RAMP_CREDENTIAL: UpdateFiatOnRampCredentialIntent
  readonly ACTIVITY_TYPE_DELETE_FIAT_ON_RAMP_CREDENTIAL: DeleteFiatOnRampCredentialIntent
  readonly ACTIVITY_TYPE_EMAIL_AUTH_V3: EmailAuthIntentV3
  readonly ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY_V2: InitUserEmailRecoveryIntentV2
  readonly ACTIVITY_TYPE_INIT_OTP_AUTH_V3: InitOtpAuthIntentV3
  readonly ACTIVITY_TYPE_INIT_OTP_V2: InitOtpIntentV2
  readonly ACTIVITY_TYPE_UPSERT_GAS_USAGE_CONFIG: UpsertGasUsageConfigIntent
  readonly ACTIVITY_TYPE_CREATE_TVC_APP: CreateTvcAppIntent
  readonly ACTIVITY_TYPE_CREATE_TVC_DEPLOYMENT: CreateTvcDeploymentIntent
  readonly ACTIVITY_TYPE_CREATE_TVC_MANIFEST_APPROVALS: CreateTvcManifestApprovalsIntent
  readonly ACTIVITY_TYPE_SOL_SEND_TRANSACTION: SolSendTransactionIntent
  readonly ACTIVITY_TYPE_INIT_OTP_V3: InitOtpIntentV3
  readonly ACTIVITY_TYPE_VERIFY_OTP_V2: VerifyOtpIntentV2
  readonly ACTIVITY_TYPE_OTP_LOGIN_V2: OtpLoginIntentV2
  readonly ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME: UpdateOrganizationNameIntent
  readonly ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8: CreateSubOrganizationIntentV8
  readonly ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2: CreateOauthProvidersIntentV2
  readonly ACTIVITY_TYPE_CREATE_USERS_V4: CreateUsersIntentV4
  readonly ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT: CreateWebhookEndpointIntent
  readonly ACTIVITY_TYPE_UPDATE_WEBHOOK_ENDPOINT: UpdateWebhookEndpointIntent
  readonly ACTIVITY_TYPE_DELETE_WEBHOOK_ENDPOINT: DeleteWebhookEndpointIntent
  readonly ACTIVITY_TYPE_SET_IP_ALLOWLIST: SetIpAllowlistIntent
  readonly ACTIVITY_TYPE_REMOVE_IP_ALLOWLIST: RemoveIpAllowlistIntent
  readonly ACTIVITY_TYPE_UPDATE_TVC_APP_LIVE_DEPLOYMENT: UpdateTvcAppLiveDeploymentIntent
  readonly ACTIVITY_TYPE_DELETE_TVC_DEPLOYMENT: DeleteTvcDeploymentIntent
  readonly ACTIVITY_TYPE_DELETE_TVC_APP_AND_DEPLOYMENTS: DeleteTvcAppAndDeploymentsIntent
  readonly ACTIVITY_TYPE_RESTORE_TVC_DEPLOYMENT: RestoreTvcDeploymentIntent
  readonly ACTIVITY_TYPE_SPARK_SIGN_FROST: SparkSignFrostIntent
  readonly ACTIVITY_TYPE_SPARK_PREPARE_TRANSFER: SparkPrepareTransferIntent
  readonly ACTIVITY_TYPE_SPARK_CLAIM_TRANSFER: SparkClaimTransferIntent
  readonly ACTIVITY_TYPE_SPARK_PREPARE_LIGHTNING_RECEIVE: SparkPrepareLightningReceiveIntent
  readonly ACTIVITY_TYPE_POST_TVC_QUORUM_KEY_SHARE: PostTvcQuorumKeyShareIntent
  readonly ACTIVITY_TYPE_ETH_SEND_TRANSACTION_V2: EthSendTransactionIntentV2
  readonly ACTIVITY_TYPE_CREATE_MFA_POLICY: CreateMfaPolicyIntent
  readonly ACTIVITY_TYPE_UPDATE_MFA_POLICY: UpdateMfaPolicyIntent
  readonly ACTIVITY_TYPE_DELETE_MFA_POLICY: DeleteMfaPolicyIntent
  readonly ACTIVITY_TYPE_CREATE_SESSION_PROFILE: CreateSessionProfileIntent
  readonly ACTIVITY_TYPE_EARN_DEPLOY_WRAPPER: EarnDeployWrapperIntent
  readonly ACTIVITY_TYPE_EARN_DEPOSIT: EarnDepositIntent
  readonly ACTIVITY_TYPE_EARN_WITHDRAW: EarnWithdrawIntent
  readonly ACTIVITY_TYPE_EXECUTE_SWAP: ExecuteSwapIntent
  readonly ACTIVITY_TYPE_UPSERT_SWAP_CONFIG: UpsertSwapConfigIntent
  readonly ACTIVITY_TYPE_CREATE_TVC_OPERATOR: CreateTvcOperatorIntent
  readonly ACTIVITY_TYPE_CREATE_TVC_QUORUM_KEY: CreateTvcQuorumKeyIntent
  readonly ACTIVITY_TYPE_RE_ENCRYPT_TVC_QUORUM_KEY_SHARE: ReEncryptTvcQuorumKeyShareIntent
  readonly ACTIVITY_TYPE_INIT_IMPORT_SECRETS: InitImportSecretsIntent
  readonly ACTIVITY_TYPE_SOL_SEND_TRANSACTION_V2: SolSendTransactionIntentV2
  readonly ACTIVITY_TYPE_CLAIM_SWAP_FEES: ClaimSwapFeesIntent
  readonly ACTIVITY_TYPE_EARN_SET_WRAPPER_STATE: EarnSetWrapperStateIntent
  readonly ACTIVITY_TYPE_CLAIM_EARN_FEES: ClaimEarnFeesIntent
  readonly ACTIVITY_TYPE_UPDATE_WALLET_ACCOUNT_NAME: UpdateWalletAccountNameIntent
  readonly ACTIVITY_TYPE_ETH_UNDELEGATE_7702: EthUndelegate7702Intent
  readonly ACTIVITY_TYPE_EXECUTE_SWAP_V2: ExecuteSwapIntentV2
  readonly ACTIVITY_TYPE_CREATE_SWAP_QUOTE: CreateSwapQuoteIntent
  readonly ACTIVITY_TYPE_IMPORT_SECRETS: ImportSecretsIntent
  readonly ACTIVITY_TYPE_EXPORT_SECRETS: ExportSecretsIntent
}

/** The result of each activity type; a vote is answered with the result of the activity it votes on. */
export type ActivityResults = {
  readonly ACTIVITY_TYPE_CREATE_API_KEYS: CreateApiKeysResult
  readonly ACTIVITY_TYPE_CREATE_USERS: CreateUsersResult
  readonly ACTIVITY_TYPE_CREATE_PRIVATE_KEYS: CreatePrivateKeysResult
  readonly ACTIVITY_TYPE_SIGN_RAW_PAYLOAD: SignRawPayloadResult
  readonly ACTIVITY_TYPE_CREATE_INVITATIONS: CreateInvitationsResult
  readonly ACTIVITY_TYPE_ACCEPT_INVITATION: AcceptInvitationResult
  readonly ACTIVITY_TYPE_CREATE_POLICY: CreatePolicyResult
  readonly ACTIVITY_TYPE_DISABLE_PRIVATE_KEY: DisablePrivateKeyResult
  readonly ACTIVITY_TYPE_DELETE_USERS: DeleteUsersResult
  readonly ACTIVITY_TYPE_DELETE_API_KEYS: DeleteApiKeysResult
  readonly ACTIVITY_TYPE_DELETE_INVITATION: DeleteInvitationResult
  readonly ACTIVITY_TYPE_DELETE_ORGANIZATION: DeleteOrganizationResult
  readonly ACTIVITY_TYPE_DELETE_POLICY: DeletePolicyResult
  readonly ACTIVITY_TYPE_CREATE_USER_TAG: CreateUserTagResult
  readonly ACTIVITY_TYPE_DELETE_USER_TAGS: DeleteUserTagsResult
  readonly ACTIVITY_TYPE_CREATE_ORGANIZATION: CreateOrganizationResult
  readonly ACTIVITY_TYPE_SIGN_TRANSACTION: SignTransactionResult
  readonly ACTIVITY_TYPE_APPROVE_ACTIVITY: Result
  readonly ACTIVITY_TYPE_REJECT_ACTIVITY: Result
  readonly ACTIVITY_TYPE_DELETE_AUTHENTICATORS: DeleteAuthenticatorsResult
  readonly ACTIVITY_TYPE_CREATE_AUTHENTICATORS: CreateAuthenticatorsResult
  readonly ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG: CreatePrivateKeyTagResult
  readonly ACTIVITY_TYPE_DELETE_PRIVATE_KEY_TAGS: DeletePrivateKeyTagsResult
  readonly ACTIVITY_TYPE_SET_PAYMENT_METHOD: SetPaymentMethodResult
  readonly ACTIVITY_TYPE_ACTIVATE_BILLING_TIER: ActivateBillingTierResult
  readonly ACTIVITY_TYPE_DELETE_PAYMENT_METHOD: DeletePaymentMethodResult
  readonly ACTIVITY_TYPE_CREATE_POLICY_V2: CreatePolicyResult
  readonly ACTIVITY_TYPE_CREATE_POLICY_V3: CreatePolicyResult
  readonly ACTIVITY_TYPE_CREATE_API_ONLY_USERS: CreateApiOnlyUsersResult
  readonly ACTIVITY_TYPE_UPDATE_ROOT_QUORUM: UpdateRootQuorumResult
  readonly ACTIVITY_TYPE_UPDATE_USER_TAG: UpdateUserTagResult
  readonly ACTIVITY_TYPE_UPDATE_PRIVATE_KEY_TAG: UpdatePrivateKeyTagResult
  readonly ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2: CreateAuthenticatorsResult
  readonly ACTIVITY_TYPE_CREATE_ORGANIZATION_V2: CreateOrganizationResult
  readonly ACTIVITY_TYPE_CREATE_USERS_V2: CreateUsersResult
  readonly ACTIVITY_TYPE_ACCEPT_INVITATION_V2: AcceptInvitationResult
  readonly ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION: CreateSubOrganizationResult
  readonly ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V2: CreateSubOrganizationResult
  readonly ACTIVITY_TYPE_UPDATE_ALLOWED_ORIGINS: UpdateAllowedOriginsResult
  readonly ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2: CreatePrivateKeysResultV2
  readonly ACTIVITY_TYPE_UPDATE_USER: UpdateUserResult
  readonly ACTIVITY_TYPE_UPDATE_POLICY: UpdatePolicyResult
  readonly ACTIVITY_TYPE_SET_PAYMENT_METHOD_V2: SetPaymentMethodResult
  readonly ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V3: CreateSubOrganizationResultV3
  readonly ACTIVITY_TYPE_CREATE_WALLET: CreateWalletResult
  readonly ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS: CreateWalletAccountsResult
  readonly ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY: InitUserEmailRecoveryResult
  readonly ACTIVITY_TYPE_RECOVER_USER: RecoverUserResult
  readonly ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE: SetOrganizationFeatureResult
  readonly ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE: RemoveOrganizationFeatureResult
  readonly ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2: SignRawPayloadResult
  readonly ACTIVITY_TYPE_SIGN_TRANSACTION_V2: SignTransactionResult
  readonly ACTIVITY_TYPE_EXPORT_PRIVATE_KEY: ExportPrivateKeyResult
  readonly ACTIVITY_TYPE_EXPORT_WALLET: ExportWalletResult
  readonly ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V4: CreateSubOrganizationResultV4
  readonly ACTIVITY_TYPE_EMAIL_AUTH: EmailAuthResult
  readonly ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT: ExportWalletAccountResult
  readonly ACTIVITY_TYPE_INIT_IMPORT_WALLET: InitImportWalletResult
  readonly ACTIVITY_TYPE_IMPORT_WALLET: ImportWalletResult
  readonly ACTIVITY_TYPE_INIT_IMPORT_PRIVATE_KEY: InitImportPrivateKeyResult
  readonly ACTIVITY_TYPE_IMPORT_PRIVATE_KEY: ImportPrivateKeyResult
  readonly ACTIVITY_TYPE_CREATE_POLICIES: CreatePoliciesResult
  readonly ACTIVITY_TYPE_SIGN_RAW_PAYLOADS: SignRawPayloadsResult
  readonly ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION: CreateReadOnlySessionResult
  readonly ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS: CreateOauthProvidersResult
  readonly ACTIVITY_TYPE_DELETE_OAUTH_PROVIDERS: DeleteOauthProvidersResult
  readonly ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V5: CreateSubOrganizationResultV5
  readonly ACTIVITY_TYPE_OAUTH: OauthResult
  readonly ACTIVITY_TYPE_CREATE_API_KEYS_V2: CreateApiKeysResult
  readonly ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION: CreateReadWriteSessionResult
  readonly ACTIVITY_TYPE_EMAIL_AUTH_V2: EmailAuthResult
  readonly ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V6: CreateSubOrganizationResultV6
  readonly ACTIVITY_TYPE_DELETE_PRIVATE_KEYS: DeletePrivateKeysResult
  readonly ACTIVITY_TYPE_DELETE_WALLETS: DeleteWalletsResult
  readonly ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2: CreateReadWriteSessionResultV2
  readonly ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION: DeleteSubOrganizationResult
  readonly ACTIVITY_TYPE_INIT_OTP_AUTH: InitOtpAuthResult
  readonly ACTIVITY_TYPE_OTP_AUTH: OtpAuthResult
  readonly ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7: CreateSubOrganizationResultV7
  readonly ACTIVITY_TYPE_UPDATE_WALLET: UpdateWalletResult
  readonly ACTIVITY_TYPE_UPDATE_POLICY_V2: UpdatePolicyResultV2
  readonly ACTIVITY_TYPE_CREATE_USERS_V3: CreateUsersResult
  readonly ACTIVITY_TYPE_INIT_OTP_AUTH_V2: InitOtpAuthResultV2
  readonly ACTIVITY_TYPE_INIT_OTP: InitOtpResult
  readonly ACTIVITY_TYPE_VERIFY_OTP: VerifyOtpResult
  readonly ACTIVITY_TYPE_OTP_LOGIN: OtpLoginResult
  readonly ACTIVITY_TYPE_STAMP_LOGIN: StampLoginResult
  readonly ACTIVITY_TYPE_OAUTH_LOGIN: OauthLoginResult
  readonly ACTIVITY_TYPE_UPDATE_USER_NAME: UpdateUserNameResult
  readonly ACTIVITY_TYPE_UPDATE_USER_EMAIL: UpdateUserEmailResult
  readonly ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER: UpdateUserPhoneNumberResult
  readonly ACTIVITY_TYPE_INIT_FIAT_ON_RAMP: InitFiatOnRampResult
  readonly ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE: CreateSmartContractInterfaceResult
  readonly ACTIVITY_TYPE_DELETE_SMART_CONTRACT_INTERFACE: DeleteSmartContractInterfaceResult
  readonly ACTIVITY_TYPE_ENABLE_AUTH_PROXY: EnableAuthProxyResult
  readonly ACTIVITY_TYPE_DISABLE_AUTH_PROXY: DisableAuthProxyResult
  readonly ACTIVITY_TYPE_UPDATE_AUTH_PROXY_CONFIG: UpdateAuthProxyConfigResult
  readonly ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL: CreateOauth2CredentialResult
  readonly ACTIVITY_TYPE_UPDATE_OAUTH2_CREDENTIAL: UpdateOauth2CredentialResult
  readonly ACTIVITY_TYPE_DELETE_OAUTH2_CREDENTIAL: DeleteOauth2CredentialResult
  readonly ACTIVITY_TYPE_OAUTH2_AUTHENTICATE: Oauth2AuthenticateResult
  readonly ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS: DeleteWalletAccountsResult
  readonly ACTIVITY_TYPE_DELETE_POLICIES: DeletePoliciesResult
  readonly ACTIVITY_TYPE_ETH_SEND_RAW_TRANSACTION: EthSendRawTransactionResult
  readonly ACTIVITY_TYPE_ETH_SEND_TRANSACTION: EthSendTransactionResult
  readonly ACTIVITY_TYPE_CREATE_FIAT_ON_RAMP_CREDENTIAL: CreateFiatOnRampCredentialResult
  readonly ACTIVITY_TYPE_UPDATE_FIAT_ON_RAMP_CREDENTIAL: UpdateFiatOnRampCredentialResult
  readonly ACTIVITY_TYPE_DELETE_FIAT_ON_RAMP_CREDENTIAL: DeleteFiatOnRampCredentialResult
  readonly ACTIVITY_TYPE_EMAIL_AUTH_V3: EmailAuthResult
  readonly ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY_V2: InitUserEmailRecoveryResult
  readonly ACTIVITY_TYPE_INIT_OTP_AUTH_V3: InitOtpAuthResultV2
  readonly ACTIVITY_TYPE_INIT_OTP_V2: InitOtpResultV2
  readonly ACTIVITY_TYPE_UPSERT_GAS_USAGE_CONFIG: UpsertGasUsageConfigResult
  readonly ACTIVITY_TYPE_CREATE_TVC_APP: CreateTvcAppResult
  readonly ACTIVITY_TYPE_CREATE_TVC_DEPLOYMENT: CreateTvcDeploymentResult
  readonly ACTIVITY_TYPE_CREATE_TVC_MANIFEST_APPROVALS: CreateTvcManifestApprovalsResult
  readonly ACTIVITY_TYPE_SOL_SEND_TRANSACTION: SolSendTransactionResult
  readonly ACTIVITY_TYPE_INIT_OTP_V3: InitOtpResultV2
  readonly ACTIVITY_TYPE_VERIFY_OTP_V2: VerifyOtpResult
  readonly ACTIVITY_TYPE_OTP_LOGIN_V2: OtpLoginResult
  readonly ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME: UpdateOrganizationNameResult
  readonly ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8: CreateSubOrganizationResultV8
  readonly ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2: CreateOauthProvidersResultV2
  readonly ACTIVITY_TYPE_CREATE_USERS_V4: CreateUsersResult
  readonly ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT: CreateWebhookEndpointResult
  readonly ACTIVITY_TYPE_UPDATE_WEBHOOK_ENDPOINT: UpdateWebhookEndpointResult
  readonly ACTIVITY_TYPE_DELETE_WEBHOOK_ENDPOINT: DeleteWebhookEndpointResult
  readonly ACTIVITY_TYPE_SET_IP_ALLOWLIST: SetIpAllowlistResult
  readonly ACTIVITY_TYPE_REMOVE_IP_ALLOWLIST: RemoveIpAllowlistResult
  readonly ACTIVITY_TYPE_UPDATE_TVC_APP_LIVE_DEPLOYMENT: UpdateTvcAppLiveDeploymentResult
  readonly ACTIVITY_TYPE_DELETE_TVC_DEPLOYMENT: DeleteTvcDeploymentResult
  readonly ACTIVITY_TYPE_DELETE_TVC_APP_AND_DEPLOYMENTS: DeleteTvcAppAndDeploymentsResult
  readonly ACTIVITY_TYPE_RESTORE_TVC_DEPLOYMENT: RestoreTvcDeploymentResult
  readonly ACTIVITY_TYPE_SPARK_SIGN_FROST: SparkSignFrostResult
  readonly ACTIVITY_TYPE_SPARK_PREPARE_TRANSFER: SparkPrepareTransferResult
  readonly ACTIVITY_TYPE_SPARK_CLAIM_TRANSFER: SparkClaimTransferResult
  readonly ACTIVITY_TYPE_SPARK_PREPARE_LIGHTNING_RECEIVE: SparkPrepareLightningReceiveResult
  readonly ACTIVITY_TYPE_POST_TVC_QUORUM_KEY_SHARE: PostTvcQuorumKeyShareResult
  readonly ACTIVITY_TYPE_ETH_SEND_TRANSACTION_V2: EthSendTransactionResultV2
  readonly ACTIVITY_TYPE_CREATE_MFA_POLICY: CreateMfaPolicyResult
  readonly ACTIVITY_TYPE_UPDATE_MFA_POLICY: UpdateMfaPolicyResult
  readonly ACTIVITY_TYPE_DELETE_MFA_POLICY: DeleteMfaPolicyResult
  readonly ACTIVITY_TYPE_CREATE_SESSION_PROFILE: CreateSessionProfileResult
  readonly ACTIVITY_TYPE_EARN_DEPLOY_WRAPPER: EarnDeployWrapperResult
  readonly ACTIVITY_TYPE_EARN_DEPOSIT: EarnDepositResult
  readonly ACTIVITY_TYPE_EARN_WITHDRAW: EarnWithdrawResult
  readonly ACTIVITY_TYPE_EXECUTE_SWAP: ExecuteSwapResult
  readonly ACTIVITY_TYPE_UPSERT_SWAP_CONFIG: UpsertSwapConfigResult
  readonly ACTIVITY_TYPE_CREATE_TVC_OPERATOR: CreateTvcOperatorResult
  readonly ACTIVITY_TYPE_CREATE_TVC_QUORUM_KEY: CreateTvcQuorumKeyResult
  readonly ACTIVITY_TYPE_RE_ENCRYPT_TVC_QUORUM_KEY_SHARE: ReEncryptTvcQuorumKeyShareResult
  readonly ACTIVITY_TYPE_INIT_IMPORT_SECRETS: InitImportSecretsResult
  readonly ACTIVITY_TYPE_SOL_SEND_TRANSACTION_V2: SolSendTransactionResultV2
  readonly ACTIVITY_TYPE_CLAIM_SWAP_FEES: ClaimSwapFeesResult
  readonly ACTIVITY_TYPE_EARN_SET_WRAPPER_STATE: EarnSetWrapperStateResult
  readonly ACTIVITY_TYPE_CLAIM_EARN_FEES: ClaimEarnFeesResult
  readonly ACTIVITY_TYPE_UPDATE_WALLET_ACCOUNT_NAME: UpdateWalletAccountNameResult
  readonly ACTIVITY_TYPE_ETH_UNDELEGATE_7702: EthUndelegate7702Result
  readonly ACTIVITY_TYPE_EXECUTE_SWAP_V2: ExecuteSwapResult
  readonly ACTIVITY_TYPE_CREATE_SWAP_QUOTE: CreateSwapQuoteResult
  readonly ACTIVITY_TYPE_IMPORT_SECRETS: ImportSecretsResult
  readonly ACTIVITY_TYPE_EXPORT_SECRETS: ExportSecretsResult
}

/** Request and response of each query. */
export type QueryTypes = {
  readonly get_activity: { readonly request: GetActivityRequest; readonly response: ActivityResponse }
  readonly get_api_key: { readonly request: GetApiKeyRequest; readonly response: GetApiKeyResponse }
  readonly get_api_keys: { readonly request: GetApiKeysRequest; readonly response: GetApiKeysResponse }
  readonly get_app_status: { readonly request: GetAppStatusRequest; readonly response: GetAppStatusResponse }
  readonly get_authenticator: { readonly request: GetAuthenticatorRequest; readonly response: GetAuthenticatorResponse }
  readonly get_authenticators: { readonly request: GetAuthenticatorsRequest; readonly response: GetAuthenticatorsResponse }
  readonly get_boot_proof: { readonly request: GetBootProofRequest; readonly response: BootProofResponse }
  readonly get_claim_earn_fees_status: { readonly request: GetClaimEarnFeesStatusRequest; readonly response: GetClaimEarnFeesStatusResponse }
  readonly get_earn_deploy_status: { readonly request: GetEarnDeployStatusRequest; readonly response: GetEarnDeployStatusResponse }
  readonly get_earn_deposit_status: { readonly request: GetEarnDepositStatusRequest; readonly response: GetEarnDepositStatusResponse }
  readonly get_earn_withdraw_status: { readonly request: GetEarnWithdrawStatusRequest; readonly response: GetEarnWithdrawStatusResponse }
  readonly get_gas_usage: { readonly request: GetGasUsageRequest; readonly response: GetGasUsageResponse }
  readonly get_ip_allowlist: { readonly request: GetIpAllowlistRequest; readonly response: GetIpAllowlistResponse }
  readonly get_latest_boot_proof: { readonly request: GetLatestBootProofRequest; readonly response: BootProofResponse }
  readonly get_mfa_policies: { readonly request: GetMfaPoliciesRequest; readonly response: GetMfaPoliciesResponse }
  readonly get_mfa_policy: { readonly request: GetMfaPolicyRequest; readonly response: GetMfaPolicyResponse }
  readonly get_mfa_status: { readonly request: GetMfaStatusRequest; readonly response: GetMfaStatusResponse }
  readonly get_nonces: { readonly request: GetNoncesRequest; readonly response: GetNoncesResponse }
  readonly get_oauth2_credential: { readonly request: GetOauth2CredentialRequest; readonly response: GetOauth2CredentialResponse }
  readonly get_oauth_providers: { readonly request: GetOauthProvidersRequest; readonly response: GetOauthProvidersResponse }
  readonly get_onramp_transaction_status: { readonly request: GetOnRampTransactionStatusRequest; readonly response: GetOnRampTransactionStatusResponse }
  readonly get_organization_configs: { readonly request: GetOrganizationConfigsRequest; readonly response: GetOrganizationConfigsResponse }
  readonly get_policy: { readonly request: GetPolicyRequest; readonly response: GetPolicyResponse }
  readonly get_policy_evaluations: { readonly request: GetPolicyEvaluationsRequest; readonly response: GetPolicyEvaluationsResponse }
  readonly get_private_key: { readonly request: GetPrivateKeyRequest; readonly response: GetPrivateKeyResponse }
  readonly get_send_transaction_status: { readonly request: GetSendTransactionStatusRequest; readonly response: GetSendTransactionStatusResponse }
  readonly get_session_profile: { readonly request: GetSessionProfileRequest; readonly response: GetSessionProfileResponse }
  readonly get_session_profiles: { readonly request: GetSessionProfilesRequest; readonly response: GetSessionProfilesResponse }
  readonly get_smart_contract_interface: { readonly request: GetSmartContractInterfaceRequest; readonly response: GetSmartContractInterfaceResponse }
  readonly get_swap_status: { readonly request: GetSwapStatusRequest; readonly response: GetSwapStatusResponse }
  readonly get_tvc_app: { readonly request: GetTvcAppRequest; readonly response: GetTvcAppResponse }
  readonly get_tvc_deployment: { readonly request: GetTvcDeploymentRequest; readonly response: GetTvcDeploymentResponse }
  readonly get_tvc_deployment_debug_logs: { readonly request: GetTvcDeploymentDebugLogsRequest; readonly response: GetTvcDeploymentDebugLogsResponse }
  readonly get_tvc_qos_versions: { readonly request: GetTvcQosVersionsRequest; readonly response: GetTvcQosVersionsResponse }
  readonly get_user: { readonly request: GetUserRequest; readonly response: GetUserResponse }
  readonly get_wallet: { readonly request: GetWalletRequest; readonly response: GetWalletResponse }
  readonly get_wallet_account: { readonly request: GetWalletAccountRequest; readonly response: GetWalletAccountResponse }
  readonly get_wallet_address_balances: { readonly request: GetWalletAddressBalancesRequest; readonly response: GetWalletAddressBalancesResponse }
  readonly list_activities: { readonly request: GetActivitiesRequest; readonly response: GetActivitiesResponse }
  readonly list_app_proofs: { readonly request: GetAppProofsRequest; readonly response: GetAppProofsResponse }
  readonly list_earn_enabled_vaults: { readonly request: ListEarnEnabledVaultsRequest; readonly response: ListEarnEnabledVaultsResponse }
  readonly list_earn_positions: { readonly request: ListEarnPositionsRequest; readonly response: ListEarnPositionsResponse }
  readonly list_earn_vaults: { readonly request: ListEarnVaultsRequest; readonly response: ListEarnVaultsResponse }
  readonly list_email_events: { readonly request: ListEmailEventsRequest; readonly response: ListEmailEventsResponse }
  readonly list_eth_transaction_history: { readonly request: ListEthTransactionHistoryRequest; readonly response: ListEthTransactionHistoryResponse }
  readonly list_fiat_on_ramp_credentials: { readonly request: ListFiatOnRampCredentialsRequest; readonly response: ListFiatOnRampCredentialsResponse }
  readonly list_oauth2_credentials: { readonly request: ListOauth2CredentialsRequest; readonly response: ListOauth2CredentialsResponse }
  readonly list_policies: { readonly request: GetPoliciesRequest; readonly response: GetPoliciesResponse }
  readonly list_private_key_tags: { readonly request: ListPrivateKeyTagsRequest; readonly response: ListPrivateKeyTagsResponse }
  readonly list_private_keys: { readonly request: GetPrivateKeysRequest; readonly response: GetPrivateKeysResponse }
  readonly list_secrets: { readonly request: ListSecretsRequest; readonly response: ListSecretsResponse }
  readonly list_smart_contract_interfaces: { readonly request: GetSmartContractInterfacesRequest; readonly response: GetSmartContractInterfacesResponse }
  readonly list_sol_transaction_history: { readonly request: ListSolTransactionHistoryRequest; readonly response: ListSolTransactionHistoryResponse }
  readonly list_suborgs: { readonly request: GetSubOrgIdsRequest; readonly response: GetSubOrgIdsResponse }
  readonly list_supported_assets: { readonly request: ListSupportedAssetsRequest; readonly response: ListSupportedAssetsResponse }
  readonly list_tvc_app_deployments: { readonly request: GetTvcAppDeploymentsRequest; readonly response: GetTvcAppDeploymentsResponse }
  readonly list_tvc_apps: { readonly request: GetTvcAppsRequest; readonly response: GetTvcAppsResponse }
  readonly list_user_tags: { readonly request: ListUserTagsRequest; readonly response: ListUserTagsResponse }
  readonly list_users: { readonly request: GetUsersRequest; readonly response: GetUsersResponse }
  readonly list_verified_suborgs: { readonly request: GetVerifiedSubOrgIdsRequest; readonly response: GetVerifiedSubOrgIdsResponse }
  readonly list_wallet_accounts: { readonly request: GetWalletAccountsRequest; readonly response: GetWalletAccountsResponse }
  readonly list_wallets: { readonly request: GetWalletsRequest; readonly response: GetWalletsResponse }
  readonly list_webhook_endpoints: { readonly request: ListWebhookEndpointsRequest; readonly response: ListWebhookEndpointsResponse }
  readonly validate_tvc_image: { readonly request: ValidateTvcImageRequest; readonly response: ValidateTvcImageResponse }
  readonly whoami: { readonly request: GetWhoamiRequest; readonly response: GetWhoamiResponse }
  readonly get_organization: { readonly request: GetOrganizationRequest; readonly response: GetOrganizationResponse }
}
