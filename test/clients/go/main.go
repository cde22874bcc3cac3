// Does the tasks of languages.long.ts with the published Go client, and prints what it saw as JSON.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"

	turnkey "github.com/tkhq/go-sdk/v2"
)

type key struct{ PublicKey, PrivateKey string }

var task struct {
	BaseURL, OrganizationID, NewPublicKey string
	Root, Ada, Stranger                   key
	Policy                                turnkey.CreatePolicyRequest
	Wallet                                turnkey.CreateWalletRequest
}

func client(of key) *turnkey.Client {
	stamper := must(turnkey.NewAPIKeyStamper(of.PrivateKey))
	return must(turnkey.NewClient(stamper, task.OrganizationID, turnkey.WithBaseURL(task.BaseURL)))
}

func main() {
	if err := json.Unmarshal([]byte(os.Getenv("TASK")), &task); err != nil {
		panic(err)
	}
	ctx := context.Background()
	root := client(task.Root)
	id := task.OrganizationID
	whoami := must(root.GetWhoami(ctx, turnkey.GetWhoamiRequest{OrganizationID: id}))
	newKey := turnkey.APIKeyParamsV2{APIKeyName: "k", PublicKey: task.NewPublicKey, CurveType: turnkey.APIKeyCurveP256}
	made := must(root.CreateUsers(ctx, turnkey.CreateUsersRequest{Users: []turnkey.UserParamsV4{{
		UserName:       "ann",
		APIKeys:        []turnkey.APIKeyParamsV2{newKey},
		Authenticators: []turnkey.AuthenticatorParamsV2{},
		OAuthProviders: []turnkey.OAuthProviderParamsV2{},
		UserTags:       []string{},
	}}}))
	ann := must(root.GetUser(ctx, turnkey.GetUserRequest{OrganizationID: id, UserID: made.UserIds[0]})).User
	policyID := must(root.CreatePolicy(ctx, task.Policy)).PolicyID
	policy := must(root.GetPolicy(ctx, turnkey.GetPolicyRequest{OrganizationID: id, PolicyID: policyID})).Policy
	wallet := must(root.CreateWallet(ctx, task.Wallet))
	_, err := client(task.Ada).CreateUserTag(ctx, turnkey.CreateUserTagRequest{UserTagName: "waits", UserIds: []string{}})
	var waiting *turnkey.ActivityRequiresApprovalError
	if !errors.As(err, &waiting) {
		panic(err)
	}
	_, notFound := root.GetUser(ctx, turnkey.GetUserRequest{OrganizationID: id, UserID: id})
	_, stranger := client(task.Stranger).GetWhoami(ctx, turnkey.GetWhoamiRequest{OrganizationID: id})
	if err := json.NewEncoder(os.Stdout).Encode(map[string]any{
		"whoami":    whoami.Username,
		"user":      []any{ann.UserName, len(ann.APIKeys)},
		"policy":    []string{policy.Condition, policy.Consensus},
		"addresses": wallet.Addresses,
		"waiting":   waiting.ActivityID,
		"notFound":  notFound.Error(),
		"stranger":  stranger.Error(),
	}); err != nil {
		panic(err)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
