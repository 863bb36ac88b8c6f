package docs

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// bound matches code with limited capacity: listeners, queues, pools, rates and caches. Unbuffered channels have no
// capacity.
var bound = regexp.MustCompile(
	`\.Listen\(ctx|semaphore\.NewWeighted\(|\bNew(Shares|Rates)\(|lru\.New\(|NewLRUExpireCache|NewExpiring\(|` +
		`otter\.Must\(|\.SetLimit\(|workqueue\.New|make\(chan [^(),]+, |listen\.Bound\(|CacheOptions\(`)

// ownBounds are files whose queues, pools and caches are not shared between callers, with the reason.
var ownBounds = map[string]string{
	"internal/plan/plan.go":                "a command of one user, who limits their own requests",
	"internal/release/parallel.go":         "the writes of one reconcile",
	"internal/apiserver/figures.go":        "the queries of one request to the gates",
	"internal/apiserver/live/darkrooms.go": "signals that one stream has something to read",
	"internal/apiserver/manifest.go":       "the result of one rendering",
	"internal/apiserver/limit/shares.go":   "the type; its users are listed",
	"internal/apiserver/limit/rates.go":    "the type; its users are listed",
	"internal/cmd/manager.go":              "calls the listed caches",
}

// sharedBounds are files whose listeners, queues, pools, rates and caches are shared between callers. For each file
// they name the tests in which the least privileged caller exhausts the capacity and others are still served.
var sharedBounds = map[string]string{
	"internal/listen/server.go":           "TestNobodyExhaustsAProgramWithoutAToken TestAnAddressThatFillsAListenerKeepsNobodyOut",
	"internal/probe/prober.go":            "TestDarkroomsWithoutAnAnswerDoNotHoldUpOthers",
	"internal/controller/setup.go":        "TestRequestsThatHangEndAndWatchesDoNot TestForeignFinalizersBlockOnlyTheirOwnDarkroom",
	"internal/controller/cluster.go":      "TestOnlyNameAndVersionOfASecretAreKept",
	"internal/caches/transform.go":        "TestMetadataThatUsersKeepChangingTakesLittleMemory",
	"internal/apiserver/server.go":        "TestNobodyExhaustsAProgramWithoutAToken TestConnectionsOfKnownCallersAreKept",
	"internal/apiserver/auth/signin.go":   "TestAttemptsToSignIn",
	"internal/apiserver/auth/auth.go":     "TestOthersOfAnAddressDoNotLockOutWhoSignsIn TestQuestionsToTheClusterAreBudgeted",
	"internal/apiserver/auth/access.go":   "TestRatesTrackABoundedNumberOfCallers",
	"internal/apiserver/oidc/provider.go": "TestSessionIsRefreshedAtTheIssuer",
	"internal/apiserver/limit/callers.go": "TestASlowSenderTakesNoPlaceOfOthers TestEachHasAShare TestServiceAccountsOfANamespaceShare " +
		"TestOneCallerCannotRenderForAll TestStreamsOfANamespaceAreBounded TestACallerReadsSoManyLogs",
	"gate/serve/server.go": "TestIdleConnectionsMakePlaceForOthers TestConnectionsMakePlaceOnlyWhenTheirRequestsTakeLong",
	"gate/fairqueue/queue.go": "TestClientsTakeTurns TestAFullQueueMakesPlaceForClientsWithFewerWaiters " +
		"TestTheWorkOfAClientIsBounded TestEncodingWaitsForItsTurnAndOthersDoNotWaitForIt",
	"gate/cache/cache.go":       "TestBothTiersAreBounded",
	"gate/cache/disk.go":        "TestReadsOfTheDiskWaitForMemory",
	"gate/pipeline/pipeline.go": "TestManyDifferentURLsDoNotExceedMemoryAndDisk",
}

// TestEveryBoundIsListed compares the code with sharedBounds and ownBounds.
func TestEveryBoundIsListed(t *testing.T) {
	missing := map[string]bool{}
	for _, names := range sharedBounds {
		for _, name := range strings.Fields(names) {
			missing["func "+name+"("] = true
		}
	}
	for _, folder := range []string{"internal", "gate", "test/chaos"} {
		err := filepath.WalkDir(filepath.Join(repository, folder), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.Contains(path, "/internal/testing/") {
				return err
			}
			code, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for test := range missing {
				if bytes.Contains(code, []byte(test)) {
					delete(missing, test)
				}
			}
			if strings.HasSuffix(path, "_test.go") || folder == "test/chaos" {
				return nil
			}
			name, err := filepath.Rel(repository, path)
			if err != nil {
				return err
			}
			isListed := sharedBounds[name] != "" || ownBounds[name] != ""
			switch is := bound.Match(code); {
			case is && !isListed:
				t.Errorf("%s contains %q, which neither list has", name, bound.Find(code))
			case !is && isListed:
				t.Errorf("%s has no shared capacity any more", name)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for test := range missing {
		t.Errorf("there is no %s…", test)
	}
}
