package main
import ("bufio"; "fmt"; "os"; "runtime"; "sync"; "time")
func work(done *sync.WaitGroup) {
    defer done.Done()
    kept := [][]byte{}
    for i := 0; i < 200; i++ {
        kept = append(kept, make([]byte, 100000))
        if i % 20 == 0 { kept = kept[:0] }
    }
    runtime.KeepAlive(kept)
}
func main() {
    for in := bufio.NewScanner(os.Stdin); in.Scan(); {
        var done sync.WaitGroup
        for i := 0; i < 8; i++ { done.Add(1); go work(&done) }
        done.Wait()
        runtime.GC()
        time.Sleep(time.Millisecond)
        fmt.Println("got", in.Text())
    }
}
