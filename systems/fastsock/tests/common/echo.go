// Echo: echo server PORT, echo client PORT.
package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

func main() {
	at := "127.0.0.1:" + os.Args[2]
	if os.Args[1] == "server" {
		listener, err := net.Listen("tcp", at)
		if err != nil {
			panic(err)
		}
		for {
			one, err := listener.Accept()
			if err != nil {
				panic(err)
			}
			go func() { io.Copy(one, one); one.Close() }()
		}
	}
	var one net.Conn
	for i := 0; ; i++ {
		var err error
		if one, err = net.Dial("tcp", at); err == nil {
			break
		}
		if i > 1500 {
			panic(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	for n := 1; n < 300; n++ {
		out, in := bytes.Repeat([]byte{byte(n)}, n*17), make([]byte, n*17)
		one.Write(out)
		if _, err := io.ReadFull(one, in); err != nil || !bytes.Equal(in, out) {
			panic(fmt.Sprint(n, err))
		}
	}
	fmt.Println("same")
}
